import { statfs } from 'node:fs/promises'

/** Kept free for the sites that are there and for Stead's own records: a new site must not stop the old ones. */
const RESERVE_BYTES = 64 << 20
const SQLITE_FULL = 13

/** A site cannot be made for want of disk space. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}

/** @throws DiskFull when less than the reserve is free where the folder is */
export async function checkRoom(folder: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  if (freeBytes >= RESERVE_BYTES) return
  const [freeMb, neededMb] = [freeBytes, RESERVE_BYTES].map((bytes) => Math.floor(bytes / (1 << 20)))
  throw new DiskFull(`The disk of the host is full: ${freeMb} MB are free, a new site needs ${neededMb} MB`)
}

/** The error itself, or {@link DiskFull} when it means that. */
export function inWords(error: unknown): unknown {
  const { code, errcode } = error as { code?: string; errcode?: number }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || errcode === SQLITE_FULL
  return isFull ? new DiskFull('The disk of the host is full', { cause: error }) : error
}
