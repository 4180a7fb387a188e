import type { Readable, Writable } from 'node:stream'

/** The streams of a command. */
export interface CommandIo {
  readonly input: Readable
  readonly output: Writable
  readonly errors: Writable
  /** Aborted when the command must end. */
  readonly signal: AbortSignal
  /** The columns of the user's terminal, or undefined without one. */
  readonly columns: number | undefined
}

/** The result of a command. */
export interface Ended {
  readonly code: number
  /** Whether the site's database may have changed. */
  readonly wrote: boolean
}

/** Resolves when the bytes are on their way, however slowly they are read. @throws the signal's reason */
export function write(target: Writable, bytes: Uint8Array | string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    target.write(bytes, (error) => {
      signal.removeEventListener('abort', stop)
      if (error) reject(error)
      else resolve()
    })
  })
}

/** Forwards a whole stream, no faster than it is read. */
export async function forward(source: AsyncIterable<Uint8Array>, target: Writable, signal: AbortSignal): Promise<void> {
  for await (const piece of source) await write(target, piece, signal)
}

/**
 * Reads the input of a command until its end or the signal. Leaves the stream open when the reader stops early: over
 * SSH the same stream carries the command's messages and its exit code.
 */
export async function* readInput({
  input,
  signal,
}: Pick<CommandIo, 'input' | 'signal'>): AsyncGenerator<Uint8Array, void, void> {
  const pieces: AsyncIterator<Uint8Array> = input.iterator({ destroyOnReturn: false })
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  stopped.catch(() => {})
  const stop = () => reject(signal.reason)
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await Promise.race([pieces.next(), stopped])
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
