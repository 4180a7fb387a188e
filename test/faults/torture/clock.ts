import { existsSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The clock of the machine, as Stead's processes see it. */
export interface Clock {
  readonly env: Record<string, string>
  /** Moves it, for all processes within a second. */
  set(secondsAhead: number): Promise<void>
}

const library = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find((file) => existsSync(file))

/** @returns undefined on a machine without libfaketime (a Debian package) */
export async function clockIn(folder: string): Promise<Clock | undefined> {
  if (!library) return undefined
  const file = join(folder, 'clock')
  // in one step: a file that is read half written would be another time
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
      // what counts durations goes on, as on a machine whose clock is set
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      // times of files are what they are
      NO_FAKE_STAT: '1',
    },
  }
}
