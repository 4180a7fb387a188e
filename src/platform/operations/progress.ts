import { setTimeout as pause } from 'node:timers/promises'

/** Writes a value that changes often only once in a while. */
export interface ProgressWriter {
  set(percent: number): void
  /** Nothing is written any more when the promise is settled. */
  close(): Promise<void>
}

/** @param write must not throw: progress is never a reason to fail */
export function progressWriter(write: (percent: number) => Promise<void>, everyMs: number): ProgressWriter {
  const closing = new AbortController()
  let latest: number | undefined
  let written: number | undefined
  let writing: Promise<void> | undefined

  const writeChanges = async () => {
    while (!closing.signal.aborted && latest !== undefined && latest !== written) {
      written = latest
      await write(latest)
      await pause(everyMs, undefined, { signal: closing.signal }).catch(() => {})
    }
    writing = undefined
  }
  return {
    set(percent) {
      latest = percent
      writing ??= writeChanges()
    },
    async close() {
      closing.abort()
      await writing
    },
  }
}
