/**
 * The program of the thread in `chunk-opener.ts`. It decrypts, decompresses and hashes away from the event loop that
 * serves requests.
 */
import { parentPort } from 'node:worker_threads'
import { comeAfterVisitors } from '../../platform/come-after-visitors.ts'
import { openChunk } from '../format/chunk.ts'
import type { Opened, ToCheck, ToOpen } from './chunk-opener.ts'

comeAfterVisitors()

const answer = (opened: Opened, moved: ArrayBuffer[] = []) => parentPort?.postMessage(opened, moved)

/** @returns undefined when it is not what was written */
function openOne({ keys, id, sizeBytes, sealed }: ToOpen): Uint8Array<ArrayBuffer> | undefined {
  try {
    // A Buffer arrives in a thread as a plain Uint8Array.
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    // The array must fill its buffer, because the whole buffer is transferred.
    return new Uint8Array(openChunk(keys, id, sizeBytes, bytes))
  } catch {
    return undefined
  }
}

/** @returns undefined when it is not what was written */
function openRow(
  { keys, bytes }: ToCheck,
  { id, offset, sealedBytes, sizeBytes }: ToCheck['rows'][number],
): Buffer | undefined {
  try {
    return openChunk(keys, id, sizeBytes, Buffer.from(bytes.buffer, bytes.byteOffset + offset, sealedBytes))
  } catch {
    return undefined
  }
}

function openAll(message: ToCheck): void {
  const all = new Uint8Array(message.rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))
  let at = 0
  const contents = message.rows.map((row) => {
    const content = openRow(message, row)
    if (!content) return undefined
    all.set(content, at)
    at += content.length
    return all.subarray(at - content.length, at)
  })
  answer({ contents }, [all.buffer])
}

parentPort?.on('message', (message: ToOpen | ToCheck) => {
  if ('rows' in message && message.wantsContent) return openAll(message)
  if ('rows' in message) return answer({ sound: message.rows.map((row) => openRow(message, row) !== undefined) })
  const content = openOne(message)
  answer({ content }, content ? [content.buffer] : [])
})
