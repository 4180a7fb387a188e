/** Runs work, once all that was begun before has ended. */
export type InTurn = <Result>(signal: AbortSignal, work: () => Promise<Result>) => Promise<Result>

/** @returns runs work one after the other. Aborted work does not wait for its turn. */
export function oneByOne(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return async (signal, work) => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = Promise.all([before, promise])
    try {
      await Promise.race([before, aborted(signal)])
      signal.throwIfAborted()
      return await work()
    } finally {
      resolve()
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
