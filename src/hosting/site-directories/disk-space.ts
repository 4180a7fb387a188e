import { statfs } from 'node:fs/promises'

/** What a new site takes at first. Existing sites and Stead's own data come first: none may stop for a new site. */
const SITE_BYTES = 64 << 20
const SQLITE_FULL = 13

/** There is not enough disk space to create a site. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}

/** @param keepFreeBytes bytes that must stay free on the folder's disk @throws DiskFull */
export async function checkRoom(folder: string, keepFreeBytes = 0): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  const neededBytes = SITE_BYTES + keepFreeBytes
  if (freeBytes >= neededBytes) return
  const [freeMb, neededMb] = [freeBytes, neededBytes].map((bytes) => Math.floor(bytes / (1 << 20)))
  throw new DiskFull(`The disk of the host is full: ${freeMb} MB are free, but a new site needs ${neededMb} MB`)
}

/** Returns {@link DiskFull} when the error means that, and otherwise the error itself. */
export function asDiskFull(error: unknown): unknown {
  const { code, errcode } = error as { code?: string; errcode?: number }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || errcode === SQLITE_FULL
  return isFull ? new DiskFull('The disk of the host is full', { cause: error }) : error
}
