import { lstatSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Found, inFolder, lookInside } from '../site-files/open-inside.ts'

const FOLDER = 'private'
const NAME = 'php-error.log'
/** Where a log that has grown long lies until it has been read to its end. */
const OLD = 'php-error.log.1'

/** A log that has grown to this size makes room for a new one. */
export const LONG_BYTES = 4 << 20

/** What one look costs: a system call. @returns undefined when there is no such file; links are not followed, nor are they files */
export function glance(homePath: string): { inode: number; sizeBytes: number; changedAtMs: number } | undefined {
  const stats = lstatSync(join(homePath, FOLDER, NAME), { throwIfNoEntry: false })
  return stats?.isFile() ? { inode: stats.ino, sizeBytes: stats.size, changedAtMs: stats.mtimeMs } : undefined
}

/** Looks at the log itself or the one before it, without following a link. To be closed. */
export function openLog(homePath: string, which: 'log' | 'old'): Found | undefined {
  const found = lookInside(homePath, `${FOLDER}/${which === 'log' ? NAME : OLD}`)
  if (found?.kind === 'file') return found
  found?.close()
  return undefined
}

/**
 * Puts the log aside. PHP opens the file anew for each message (main/main.c, php_log_err), so the next one goes into a new file,
 * and one that is being written just now lands in the old one.
 */
export async function putAside(homePath: string): Promise<void> {
  await inFolder(homePath, FOLDER, async (folder) => {
    try {
      await rename(`${folder}/${NAME}`, `${folder}/${OLD}`)
    } catch {
      // whatever the site has put in the way (a folder of that name): the log must not grow for ever
      await unlink(`${folder}/${NAME}`)
    }
  })
}

/** Removes the log that was put aside. */
export async function removeOld(homePath: string): Promise<void> {
  await inFolder(homePath, FOLDER, (folder) => unlink(`${folder}/${OLD}`).catch(() => {}))
}
