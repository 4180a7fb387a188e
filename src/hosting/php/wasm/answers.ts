import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import { PhpCrashed, type PhpResponse } from '../runtime.ts'
import { Frame, type ResponseEnd, type ResponseHead } from './frames.ts'

/**
 * How much is read from PHP ahead of the reader here. Slow visitors do not wait here either: see
 * `web-server/held-answer.ts`.
 */
const readAheadBytes = 1 << 17

const ofTheConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
])

/**
 * The answer to one job, assembled from a child's frames. A child may send anything, because it runs untrusted code.
 */
export interface JobAnswer {
  readonly head: Promise<PhpResponse>
  readonly finished: Promise<ResponseEnd>
  /** @throws when the frame is not expected now, or is invalid */
  take(kind: number, payload: Buffer): void
  fail(error: Error): void
}

/** @param flow pauses and resumes the frames of the child */
export function expectAnswer(flow: { pause(): void; resume(): void }): JobAnswer {
  const head = Promise.withResolvers<PhpResponse>()
  const finished = Promise.withResolvers<ResponseEnd>()
  for (const { promise } of [head, finished] as { promise: Promise<unknown> }[]) promise.catch(() => {})
  let headTaken = false
  const body = new Readable({
    highWaterMark: readAheadBytes,
    read: () => flow.resume(),
    destroy(error, done) {
      // The reader is gone. PHP still finishes its work, and its output is dropped.
      flow.resume()
      done(error)
    },
  })
  body.on('error', () => {})
  return {
    head: head.promise,
    finished: finished.promise,
    take(kind, payload) {
      if (kind === Frame.head && !headTaken) {
        headTaken = true
        head.resolve({ ...checkHead(JSON.parse(payload.toString()) as ResponseHead), body })
      } else if (kind === Frame.data && headTaken) {
        if (!body.destroyed && !body.push(payload)) flow.pause()
      } else if (kind === Frame.end && headTaken) {
        const end = JSON.parse(payload.toString()) as ResponseEnd
        if (!body.destroyed) body.push(null)
        finished.resolve(end)
      } else throw new PhpCrashed(`unexpected frame ${kind}`)
    },
    fail(error) {
      head.reject(error)
      finished.reject(error)
      body.destroy(error)
    },
  }
}

/** Returns the head of an answer, reduced to what can be passed on. The site controls its contents. */
export function checkHead(head: ResponseHead): { status: number; headers: string[] } {
  const status = Number.isInteger(head.status) && head.status >= 200 && head.status <= 599 ? head.status : 502
  const headers: string[] = []
  for (let index = 0; index + 1 < head.headers.length; index += 2) {
    const [name, value] = [String(head.headers[index]), String(head.headers[index + 1])]
    if (ofTheConnection.has(name.toLowerCase())) continue
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
    } catch {
      continue // PHP itself refuses such headers, so one that arrives here is malicious
    }
    headers.push(name, value)
  }
  return { status, headers }
}
