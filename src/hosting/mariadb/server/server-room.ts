import { statfs } from 'node:fs/promises'
import { DiskFull } from '../../site-directories/disk-space.ts'

/** Disk space that a server must leave to others. */
export interface ServerRoom {
  /** Undefined when it is on another machine. */
  readonly folder: string | undefined
  readonly keepFreeBytes: number
}

/** @throws DiskFull */
export async function checkServerRoom({ folder, keepFreeBytes }: ServerRoom): Promise<void> {
  if (folder === undefined) return
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize <= keepFreeBytes) throw new DiskFull('The disk of the host is full')
}
