import { Readable } from 'node:stream'
import { PhpCrashed } from '../runtime.ts'
import type { JobAnswer } from './answers.ts'
import { Frame, type ResponseEnd } from './frames.ts'

/** How much is read ahead of the reader. Beyond that, PHP waits. */
const READ_AHEAD_BYTES = 1 << 17

/** The output of a command, assembled from a child's frames. */
export interface CommandAnswer extends JobAnswer {
  readonly output: Readable
  readonly errors: Readable
}

/** @param flow pauses and resumes the frames of the child */
export function expectCommand(flow: { pause(): void; resume(): void }): CommandAnswer {
  const finished = Promise.withResolvers<ResponseEnd>()
  finished.promise.catch(() => {})
  const full = new Set<Readable>()
  const readable = (): Readable => {
    const goOn = () => {
      full.delete(stream)
      if (full.size === 0) flow.resume()
    }
    const stream: Readable = new Readable({
      highWaterMark: READ_AHEAD_BYTES,
      read: goOn,
      destroy(error, done) {
        // The reader is gone, so the output is dropped.
        goOn()
        done(error)
      },
    })
    stream.on('error', () => {})
    return stream
  }
  const [output, errors] = [readable(), readable()]
  const give = (stream: Readable, bytes: Buffer) => {
    if (stream.destroyed || stream.push(bytes)) return
    full.add(stream)
    flow.pause()
  }
  return {
    output,
    errors,
    // Never resolves: a command answers nothing before its end.
    head: new Promise(() => {}),
    finished: finished.promise,
    take(kind, payload) {
      if (kind === Frame.data) give(output, payload)
      else if (kind === Frame.errors) give(errors, payload)
      else if (kind === Frame.end) {
        const end = JSON.parse(payload.toString()) as ResponseEnd
        for (const stream of [output, errors]) if (!stream.destroyed) stream.push(null)
        finished.resolve(end)
      } else throw new PhpCrashed(`unexpected frame ${kind}`)
    },
    fail(error) {
      finished.reject(error)
      // Readers get the output so far first.
      for (const stream of [output, errors]) if (!stream.destroyed) stream.push(null)
    },
  }
}
