import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  utimesSync,
} from 'node:fs'
import { atPath, isGone, LINUX, O_PATH } from './stage/pin.ts'

/** The properties of a folder or a file, besides its content. */
export interface Attributes {
  readonly mode: number
  /** With the precision beyond milliseconds that the system reports. */
  readonly mtimeMs: number
}

const MOST_MODE = 0o7777

/** @returns undefined when the path is neither a file nor a folder */
export const attributesAt = (root: string, path: string): Attributes | undefined =>
  withThing(root, path, (_place, { mode, mtimeNs }) => ({
    mode: Number(mode) & MOST_MODE,
    mtimeMs: Number(mtimeNs / 1000n) / 1000,
  }))

/** Does nothing when something else is at the path by now. */
export function setAttributes(root: string, path: string, { mode, mtimeMs }: Attributes): void {
  withThing(root, path, (place, stats) => {
    if ((Number(stats.mode) & MOST_MODE) !== mode) chmodSync(place, mode)
    utimesSync(place, new Date(), seconds(mtimeMs))
  })
}

/**
 * Converts a time of change to the seconds that set that same time. Node takes fractional seconds and rounds them down
 * to nanoseconds. Without the extra half microsecond, a time would lose a millisecond.
 */
export const seconds = (ms: number): number => (Math.round(ms * 1000) + 0.5) / 1_000_000

/** Runs `work` with a path that leads to the file or folder itself. */
function withThing<Result>(
  root: string,
  path: string,
  work: (place: string, stats: BigIntStats) => Result,
): Result | undefined {
  return atPath(root, path === '' ? '.' : path, (at) => {
    let fd: number
    try {
      fd = openSync(at, O_PATH | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
    try {
      const stats = fstatSync(fd, { bigint: true })
      if (!stats.isFile() && !stats.isDirectory()) return undefined
      return work(LINUX ? `/proc/self/fd/${fd}` : at, stats)
    } finally {
      closeSync(fd)
    }
  })
}

export const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

export function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
