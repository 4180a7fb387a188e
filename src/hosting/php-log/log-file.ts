import { lstatSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { declareMemory } from '../../platform/process-memory.ts'
import { type Found, inFolder, lookInside } from '../site-files/open-inside.ts'

const FOLDER = 'private'
const NAME = 'php-error.log'
/** The name of a rotated log until it has been read to its end. */
const OLD = 'php-error.log.1'

/** Where WordPress logs if `WP_DEBUG_LOG` is on and names no path. */
const DEBUG_LOG = 'web/wp-content/debug.log'
/** The most bytes that are read of `wp-config.php`. */
const MOST_CONFIG_BYTES = 64 << 10
/** Folders of a site, by the notation of PHP or of its wp-config.php. */
const FOLDERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:\/wordpress\/|(?:__DIR__|ABSPATH|dirname\(\s*__FILE__\s*\))\s*\.\s*['"]\/?)/, 'web/'],
  [/^WP_CONTENT_DIR\s*\.\s*['"]\//, 'web/wp-content/'],
  [/^\/private\//, 'private/'],
  [/^\/tmp\//, 'private/tmp/'],
]

/**
 * The debug logs of sites, valid while wp-config.php is unchanged. The number is limited, and evicted ones are read
 * again.
 */
const debugLogs = new LRUCache<string, { readonly stamp: string; readonly path: string }>({ max: 2000 })
declareMemory(() => debugLogs.clear())

/** Returns the path of a site's debug log below its site directory, according to its wp-config.php. */
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

/**
 * Returns the path that `WP_DEBUG_LOG` names, below the site directory, or undefined if it names none or one outside
 * the site.
 */
export function debugLogIn(config: string): string | undefined {
  const [, said = ''] = /^[^/#\n]*\bdefine\(\s*['"]WP_DEBUG_LOG['"]\s*,\s*([^;\n]{1,500}?)\s*\)\s*;/m.exec(config) ?? []
  const text = said.replace(/^['"]/, '').replace(/['"]$/, '')
  for (const [start, folder] of FOLDERS) {
    const rest = text.replace(start, '')
    if (rest === text) continue
    const parts = rest.split('/').filter((part) => part !== '' && part !== '.')
    if (parts.length === 0 || /\.\.|['"\0]/.test(rest)) return undefined
    const path = `${folder}${parts.join('/')}`
    // That file is already read as PHP's own log.
    return path === `${FOLDER}/${NAME}` || path === `${FOLDER}/${OLD}` ? undefined : path
  }
  return undefined
}

/** A log of this size is rotated. */
export const LONG_BYTES = 4 << 20

/**
 * Checks a log with one system call. @returns undefined when the file does not exist. A link does not count as a file,
 * and is not followed
 */
export function glance(
  siteDirectory: string,
  path = `${FOLDER}/${NAME}`,
): { inode: number; sizeBytes: number; changedAtMs: number } | undefined {
  const stats = lstatSync(join(siteDirectory, path), { throwIfNoEntry: false })
  return stats?.isFile() ? { inode: stats.ino, sizeBytes: stats.size, changedAtMs: stats.mtimeMs } : undefined
}

/**
 * Opens the log itself, the one before it, or the one at a path, without following a link. The caller must close it.
 */
export function openLog(siteDirectory: string, which: 'log' | 'old' | { readonly path: string }): Found | undefined {
  const path = typeof which === 'object' ? which.path : `${FOLDER}/${which === 'log' ? NAME : OLD}`
  const found = lookInside(siteDirectory, path)
  if (found?.kind === 'file') return found
  found?.close()
  return undefined
}

/**
 * Rotates the log. PHP opens the file again for each message (main/main.c, php_log_err), so the next message goes into
 * a new file. A message that is being written at this moment goes into the old one.
 */
export async function putAside(siteDirectory: string): Promise<void> {
  await inFolder(siteDirectory, FOLDER, async (folder) => {
    try {
      await rename(`${folder}/${NAME}`, `${folder}/${OLD}`)
    } catch {
      // The site may have put anything in the way, such as a folder of that name. The log must not grow forever.
      await unlink(`${folder}/${NAME}`)
    }
  })
}

/** Removes the rotated log. */
export async function removeOld(siteDirectory: string): Promise<void> {
  await inFolder(siteDirectory, FOLDER, (folder) => unlink(`${folder}/${OLD}`).catch(() => {}))
}
