import { lstatSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { declareMemory } from '../../platform/process-memory.ts'
import { type Found, inFolder, lookInside } from '../site-files/open-inside.ts'

const FOLDER = 'private'
const NAME = 'php-error.log'
/** Where a log that has grown long lies until it has been read to its end. */
const OLD = 'php-error.log.1'

/** Where WordPress logs when `WP_DEBUG_LOG` is on and names no path. */
const DEBUG_LOG = 'web/wp-content/debug.log'
/** In `wp-config.php`; no more of it is read. */
const MOST_CONFIG_BYTES = 64 << 10
/** Folders of a site by what PHP, or its wp-config.php, calls them. */
const FOLDERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:\/wordpress\/|(?:__DIR__|ABSPATH|dirname\(\s*__FILE__\s*\))\s*\.\s*['"]\/?)/, 'web/'],
  [/^WP_CONTENT_DIR\s*\.\s*['"]\//, 'web/wp-content/'],
  [/^\/private\//, 'private/'],
  [/^\/tmp\//, 'private/tmp/'],
]

/** Debug logs by site, as long as wp-config.php is the same; bounded, and what goes is read again. */
const debugLogs = new LRUCache<string, { readonly stamp: string; readonly path: string }>({ max: 2000 })
declareMemory(() => debugLogs.clear())

/** Path of a site's debug log below its site directory, as its wp-config.php says. */
export function debugLogOf(siteDirectory: string): string {
  const stats = lstatSync(join(siteDirectory, 'web/wp-config.php'), { throwIfNoEntry: false })
  const stamp = `${stats?.ino} ${stats?.mtimeMs} ${stats?.size}`
  const known = debugLogs.get(siteDirectory)
  if (known?.stamp === stamp) return known.path
  const path = debugLogIn(readConfig(siteDirectory)) ?? DEBUG_LOG
  debugLogs.set(siteDirectory, { stamp, path })
  return path
}

function readConfig(siteDirectory: string): string {
  const found = lookInside(siteDirectory, 'web/wp-config.php')
  try {
    return found?.kind === 'file' ? found.read(0, Math.min(found.stats.size, MOST_CONFIG_BYTES)).toString() : ''
  } finally {
    found?.close()
  }
}

/** The path that `WP_DEBUG_LOG` names, below the site directory; undefined where it names none, or one that is not the site's. */
export function debugLogIn(config: string): string | undefined {
  const [, said = ''] = /^[^/#\n]*\bdefine\(\s*['"]WP_DEBUG_LOG['"]\s*,\s*([^;\n]{1,500}?)\s*\)\s*;/m.exec(config) ?? []
  const text = said.replace(/^['"]/, '').replace(/['"]$/, '')
  for (const [start, folder] of FOLDERS) {
    const rest = text.replace(start, '')
    if (rest === text) continue
    const parts = rest.split('/').filter((part) => part !== '' && part !== '.')
    if (parts.length === 0 || /\.\.|['"\0]/.test(rest)) return undefined
    const path = `${folder}${parts.join('/')}`
    // that one is read as PHP's own
    return path === `${FOLDER}/${NAME}` || path === `${FOLDER}/${OLD}` ? undefined : path
  }
  return undefined
}

/** A log that has grown to this size makes room for a new one. */
export const LONG_BYTES = 4 << 20

/** What one look costs: a system call. @returns undefined when there is no such file; links are not followed, nor are they files */
export function glance(
  siteDirectory: string,
  path = `${FOLDER}/${NAME}`,
): { inode: number; sizeBytes: number; changedAtMs: number } | undefined {
  const stats = lstatSync(join(siteDirectory, path), { throwIfNoEntry: false })
  return stats?.isFile() ? { inode: stats.ino, sizeBytes: stats.size, changedAtMs: stats.mtimeMs } : undefined
}

/** Looks at the log itself or the one before it, or at the one at a path, without following a link. To be closed. */
export function openLog(siteDirectory: string, which: 'log' | 'old' | { readonly path: string }): Found | undefined {
  const path = typeof which === 'object' ? which.path : `${FOLDER}/${which === 'log' ? NAME : OLD}`
  const found = lookInside(siteDirectory, path)
  if (found?.kind === 'file') return found
  found?.close()
  return undefined
}

/**
 * Puts the log aside. PHP opens the file anew for each message (main/main.c, php_log_err), so the next one goes into a new file,
 * and one that is being written just now lands in the old one.
 */
export async function putAside(siteDirectory: string): Promise<void> {
  await inFolder(siteDirectory, FOLDER, async (folder) => {
    try {
      await rename(`${folder}/${NAME}`, `${folder}/${OLD}`)
    } catch {
      // whatever the site has put in the way (a folder of that name): the log must not grow for ever
      await unlink(`${folder}/${NAME}`)
    }
  })
}

/** Removes the log that was put aside. */
export async function removeOld(siteDirectory: string): Promise<void> {
  await inFolder(siteDirectory, FOLDER, (folder) => unlink(`${folder}/${OLD}`).catch(() => {}))
}
