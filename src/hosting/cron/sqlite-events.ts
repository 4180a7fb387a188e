import type { Stats } from 'node:fs'
import { DATABASE_FILE } from '../site-database/sqlite-place.ts'
import { lookInside, openInside } from '../site-files/open-inside.ts'
import { cronEvents } from './cron-option.ts'
import { type EventSource, type Look, UnreadableDatabase } from './event-source.ts'
import { nextEvents } from './next-events.ts'
import { SqlitePages } from './sqlite-pages.ts'
import { MOST_BLOGS, MOST_OPTION_BYTES, readingOf, tablePrefix } from './wordpress-options.ts'

const JOURNAL = `${DATABASE_FILE}-journal`

/**
 * Columns of the blogs table that close a site. The table has blog_id, site_id, domain, path, registered, last_updated,
 * public, archived, mature, spam, and deleted.
 */
const BLOG_COLUMNS_CLOSED = [7, 9, 10]

/** File times are as coarse as the kernel's clock tick, or 2 s (FAT). A younger file may change without new times. */
const SETTLED_MS = 2000

/**
 * Creates the source for sites whose database is an SQLite file. It reads the file itself, even while the site's PHP
 * runs, because it neither locks nor opens anything that SQLite would notice. A read during a write would be
 * inconsistent, so it counts only if no journal existed before and after, and the file stayed the same.
 * @param clock milliseconds UTC, of the clock that sets file times
 */
export function sqliteEvents(clock: () => number = Date.now): EventSource {
  return {
    mark(siteDirectory) {
      const found = lookInside(siteDirectory, DATABASE_FILE)
      found?.close()
      return found && markOf(found.stats)
    },
    async read(siteDirectory) {
      try {
        return await read(siteDirectory, clock)
      } catch (error) {
        // RangeError: an offset in the file points outside its page.
        if (error instanceof UnreadableDatabase || error instanceof RangeError)
          return { kind: 'unknown', reason: error.message }
        throw error
      }
    },
  }
}

const markOf = ({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string => [dev, ino, size, mtimeMs, ctimeMs].join()

async function read(siteDirectory: string, clock: () => number): Promise<Look> {
  if (hasJournal(siteDirectory)) return { kind: 'busy' }
  const file = await openInside(siteDirectory, DATABASE_FILE)
  if (!file) throw new UnreadableDatabase('no database file')
  try {
    const { handle } = file
    const before = await handle.stat()
    const pages = await SqlitePages.open(readingOf(handle), before.size)
    const serialized = await cronOptions(pages, await tablePrefix(siteDirectory))
    const after = await handle.stat()
    if (hasJournal(siteDirectory) || markOf(before) !== markOf(after)) return { kind: 'busy' }
    // A future time comes from a clock that was set back since then. The next change gets a different one.
    const settled = Math.abs(clock() - Math.max(after.mtimeMs, after.ctimeMs)) > SETTLED_MS
    return { kind: 'read', next: nextEvents(serialized.flatMap((each) => [...cronEvents(each)])), settled }
  } finally {
    await file.handle.close()
  }
}

/** Whether SQLite's rollback journal has content. While it does, the database itself is not consistent. */
function hasJournal(siteDirectory: string): boolean {
  const found = lookInside(siteDirectory, JOURNAL)
  try {
    // The journal modes TRUNCATE and PERSIST empty or zero the file instead of deleting it.
    return found !== undefined && (found.kind !== 'file' || found.read(0, 8).some((byte) => byte !== 0))
  } finally {
    found?.close()
  }
}

/**
 * Returns the `cron` options of a site, or of each open site of a network. Empty before WordPress has scheduled
 * anything.
 */
async function cronOptions(pages: SqlitePages, prefix: string): Promise<Buffer[]> {
  const tables = await pages.tables(new RegExp(`^${prefix}(?:\\d{1,9}_)?(?:options|blogs)$`))
  const main = tables.get(`${prefix}options`)
  if (main === undefined) throw new UnreadableDatabase(`no table ${prefix}options`)
  const found = [await optionOf(pages, main, 'cron')]
  const blogs = tables.get(`${prefix}blogs`)
  if (blogs !== undefined)
    for (const id of await openBlogs(pages, blogs)) {
      const root = tables.get(`${prefix}${id}_options`)
      if (root !== undefined) found.push(await optionOf(pages, root, 'cron'))
    }
  return found.filter((each) => each !== undefined)
}

/** Returns the open sites of a network, oldest first. */
async function openBlogs(pages: SqlitePages, root: number): Promise<number[]> {
  const ids: number[] = []
  for await (const row of pages.rows(root)) {
    const isOpen = BLOG_COLUMNS_CLOSED.every((column) => (row.integer(column) ?? 0) === 0)
    if (isOpen && ids.push(row.id) === MOST_BLOGS) break
  }
  return ids
}

/** @returns undefined without such an option */
async function optionOf(pages: SqlitePages, root: number, name: string): Promise<Buffer | undefined> {
  // option_id, option_name, option_value, autoload
  for await (const row of pages.rows(root)) if (row.text(1) === name) return row.longText(2, MOST_OPTION_BYTES)
  return undefined
}
