/** A thread of `chunk-opener.ts`: deciphering, unpacking and hashing, apart from the event loop that serves requests. */
import { parentPort } from 'node:worker_threads'
import { comeAfterVisitors } from '../../platform/come-after-visitors.ts'
import { openChunk } from '../format/chunk.ts'
import type { Opened, ToOpen } from './chunk-opener.ts'

comeAfterVisitors()

parentPort?.on('message', ({ keys, id, sizeBytes, sealed }: ToOpen) => {
  // what crosses into a thread is no Buffer any more
  const own = { ...keys, sealing: Buffer.from(keys.sealing), naming: Buffer.from(keys.naming) }
  try {
    const opened = openChunk(own, id, sizeBytes, Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength))
    // all of its buffer, and nothing beside it
    const content = new Uint8Array(opened)
    parentPort?.postMessage({ content } satisfies Opened, [content.buffer])
  } catch {
    parentPort?.postMessage({ content: undefined } satisfies Opened)
  }
})
