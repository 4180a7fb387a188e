import { writeSync } from 'node:fs'
import { encodeFrame, Frame, frameHeaderBytes, type ResponseHead, writeFrameHeader } from '../frames.ts'

const capacity = 64 * 1024
const flushAfterMs = 20

/**
 * PHP's output on its way to the parent. It is written synchronously to a blocking descriptor. PHP blocks the event
 * loop while it runs, so only this lets a page leave before it is finished. And a parent that does not read slows PHP
 * down instead of filling this process' memory.
 */
export interface Output {
  headers(chunk: Uint8Array): void
  body(chunk: Uint8Array): void
  /**
   * Sends the rest, including the head if PHP printed nothing, and `end` after it, in one piece: the reader wakes once.
   */
  finish(end: Uint8Array): void
}

export function writeAll(descriptor: number, bytes: Uint8Array): void {
  let done = 0
  while (done < bytes.length) done += writeSync(descriptor, bytes, done)
}

export function outputTo(descriptor: number): Output {
  const buffer = Buffer.allocUnsafe(frameHeaderBytes + capacity)
  let used = 0
  let headText = ''
  let headSent = false
  let lastWrite = performance.now()
  let flushPlanned = false
  const decoder = new TextDecoder()

  const flush = (behind?: Uint8Array) => {
    const frame = buffer.subarray(0, used > 0 ? frameHeaderBytes + used : 0)
    if (used > 0) writeFrameHeader(buffer, Frame.data, used)
    if (used > 0 || behind) writeAll(descriptor, behind ? Buffer.concat([frame, behind]) : frame)
    used = 0
    lastWrite = performance.now()
  }
  const sendHead = () => {
    if (headSent) return
    headSent = true
    writeAll(descriptor, encodeFrame(Frame.head, parseHead(headText)))
  }
  return {
    headers(chunk) {
      if (!headSent) headText += decoder.decode(chunk, { stream: true })
    },
    body(chunk) {
      sendHead()
      for (let taken = 0; taken < chunk.length; ) {
        const piece = chunk.subarray(taken, taken + capacity - used)
        buffer.set(piece, frameHeaderBytes + used)
        used += piece.length
        taken += piece.length
        if (used === capacity) flush()
      }
      if (performance.now() - lastWrite > flushAfterMs) return flush()
      if (flushPlanned) return
      flushPlanned = true
      // Runs when PHP waits for something (sleep, a socket), and sends what it has printed until then.
      setImmediate(() => {
        flushPlanned = false
        flush()
      })
    },
    finish(end) {
      sendHead()
      flush(end)
    },
  }
}

function parseHead(text: string): ResponseHead {
  const headers: string[] = []
  try {
    const parsed = JSON.parse(text) as { status: number; headers: string[] }
    for (const line of parsed.headers) {
      const colon = line.indexOf(':')
      if (colon > 0) headers.push(line.slice(0, colon).trim(), line.slice(colon + 1).trim())
    }
    return { status: parsed.status, headers }
  } catch {
    return { status: 500, headers }
  }
}
