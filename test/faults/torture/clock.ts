import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The machine's clock, as Stead's processes see it. */
export interface Clock {
  readonly env: Record<string, string>
  /** Moves the clock of all processes within a second. */
  set(secondsAhead: number): Promise<void>
}

const library = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((file) => existsSync(file))

/** @returns undefined on a machine without libfaketime (a Debian package) */
export async function clockIn(folder: string): Promise<Clock | undefined> {
  if (!library) return undefined
  const file = join(folder, 'clock')
  // atomic: a half-written file would be read as another time
  const set = async (secondsAhead: number) => {
    await writeFile(`${file}.new`, `${secondsAhead < 0 ? '' : '+'}${secondsAhead}\n`, { mode: 0o644 })
    await rename(`${file}.new`, file)
  }
  await set(0)
  return {
    set,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: '1',
      // durations are unaffected, as on a machine whose clock is set
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // file times are unaffected
      NO_FAKE_STAT: '1',
    },
  }
}
