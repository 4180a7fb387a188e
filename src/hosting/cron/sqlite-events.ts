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
 * Of the table of blogs: blog_id, site_id, domain, path, registered, last_updated, public, archived, mature, spam, deleted. Those that
 * shut a site.
 */
const BLOG_COLUMNS_CLOSED = [7, 9, 10]

/** File times are as coarse as the kernel's clock tick, or 2 s (FAT): a younger file may change under the same times. */
const SETTLED_MS = 2000

/**
 * The events of sites whose database is an SQLite file, read from the file itself: while the site's PHP runs too, because it
 * neither locks nor opens anything that SQLite would notice. A read beside a write would see half of it; so it counts
 * only when there was no journal before and after, and the file stayed the same.
 * @param clock milliseconds UTC, of the clock that file times come from
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
        // RangeError: an offset of the file leads out of its page
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
    // a time to come is that of a clock that was set back since: the next change gets another one
    const settled = Math.abs(clock() - Math.max(after.mtimeMs, after.ctimeMs)) > SETTLED_MS
    return { kind: 'read', next: nextEvents(serialized.flatMap((each) => [...cronEvents(each)])), settled }
  } finally {
    await file.handle.close()
  }
}

/** SQLite's rollback journal: while it says something, the database itself is not to be believed. */
function hasJournal(siteDirectory: string): boolean {
  const found = lookInside(siteDirectory, JOURNAL)
  try {
    // emptied or zeroed instead of deleted: journal modes TRUNCATE and PERSIST
    return found !== undefined && (found.kind !== 'file' || found.read(0, 8).some((byte) => byte !== 0))
  } finally {
    found?.close()
  }
}

/** The option `cron` of a site, or of each open site of a network, where WordPress has scheduled anything yet. */
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

/** Sites of a network that WordPress answers for, the oldest first. */
async function openBlogs(pages: SqlitePages, root: number): Promise<number[]> {
  const ids: number[] = []
  for await (const row of pages.rows(root)) {
    const isOpen = BLOG_COLUMNS_CLOSED.every((column) => (row.integer(column) ?? 0) === 0)
    if (isOpen && ids.push(row.id) === MOST_BLOGS) break
  }
  return ids
}

/** @returns undefined when there is no such option */
async function optionOf(pages: SqlitePages, root: number, name: string): Promise<Buffer | undefined> {
  // option_id, option_name, option_value, autoload
  for await (const row of pages.rows(root)) if (row.text(1) === name) return row.longText(2, MOST_OPTION_BYTES)
  return undefined
}
