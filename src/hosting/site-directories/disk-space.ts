import { statfs } from 'node:fs/promises'

/** What a new site takes at first. Below it come the sites that are there and Stead's own records: none must stop for a new one. */
const SITE_BYTES = 64 << 20
const SQLITE_FULL = 13

/** A site cannot be made for want of disk space. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}

/** @param keepFreeBytes what must be left where the folder is. @throws DiskFull */
export async function checkRoom(folder: string, keepFreeBytes = 0): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  const neededBytes = SITE_BYTES + keepFreeBytes
  if (freeBytes >= neededBytes) return
  const [freeMb, neededMb] = [freeBytes, neededBytes].map((bytes) => Math.floor(bytes / (1 << 20)))
  throw new DiskFull(`The disk of the host is full: ${freeMb} MB are free, but a new site needs ${neededMb} MB`)
}

/** The error itself, or {@link DiskFull} when it means that. */
export function inWords(error: unknown): unknown {
  const { code, errcode } = error as { code?: string; errcode?: number }
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || errcode === SQLITE_FULL
  return isFull ? new DiskFull('The disk of the host is full', { cause: error }) : error
}
