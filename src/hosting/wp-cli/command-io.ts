import type { Readable, Writable } from 'node:stream'

/** What a command reads from and writes to. */
export interface CommandIo {
  readonly input: Readable
  readonly output: Writable
  readonly errors: Writable
  /** Fires when the command is to end. */
  readonly signal: AbortSignal
  /** Columns of the terminal that shows it; undefined where there is none. */
  readonly columns: number | undefined
}

/** How a command ended. */
export interface Ended {
  readonly code: number
  /** The site's database may be another than before. */
  readonly wrote: boolean
}

/** Resolves when it is on its way, however slowly that is taken. @throws the signal's reason */
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

/** Passes all of a stream on, no faster than it is taken. */
export async function forward(source: AsyncIterable<Uint8Array>, target: Writable, signal: AbortSignal): Promise<void> {
  for await (const piece of source) await write(target, piece, signal)
}

/**
 * Reads what a command is sent, until its end or the signal. Leaves the stream open when the reader stops early: over SSH the same stream carries what
 * the command says about it, and its exit code.
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
