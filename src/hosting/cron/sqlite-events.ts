import type { Stats } from 'node:fs'
import { lookInside, openInside } from '../site-files/open-inside.ts'
import { cronEvents } from './cron-option.ts'
import { type EventSource, type Look, UnreadableDatabase } from './event-source.ts'
import { nextEvents } from './next-events.ts'
import { SqlitePages } from './sqlite-pages.ts'
import { MOST_OPTION_BYTES, readingOf, tablePrefix } from './wordpress-options.ts'

const DATABASE = 'private/database/site.sqlite'
const JOURNAL = `${DATABASE}-journal`

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
    mark(homePath) {
      const found = lookInside(homePath, DATABASE)
      found?.close()
      return found && markOf(found.stats)
    },
    async read(homePath) {
      try {
        return await read(homePath, clock)
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

async function read(homePath: string, clock: () => number): Promise<Look> {
  if (hasJournal(homePath)) return { kind: 'busy' }
  const file = await openInside(homePath, DATABASE)
  if (!file) throw new UnreadableDatabase('no database file')
  try {
    const { handle } = file
    const before = await handle.stat()
    const pages = await SqlitePages.open(readingOf(handle), before.size)
    const serialized = await optionOf(pages, `${await tablePrefix(homePath)}options`, 'cron')
    const after = await handle.stat()
    if (hasJournal(homePath) || markOf(before) !== markOf(after)) return { kind: 'busy' }
    // a time to come is that of a clock that was set back since: the next change gets another one
    const settled = Math.abs(clock() - Math.max(after.mtimeMs, after.ctimeMs)) > SETTLED_MS
    return { kind: 'read', next: nextEvents(serialized ? cronEvents(serialized) : []), settled }
  } finally {
    await file.handle.close()
  }
}

/** SQLite's rollback journal: while it says something, the database itself is not to be believed. */
function hasJournal(homePath: string): boolean {
  const found = lookInside(homePath, JOURNAL)
  try {
    // emptied or zeroed instead of deleted: journal modes TRUNCATE and PERSIST
    return found !== undefined && (found.kind !== 'file' || found.read(0, 8).some((byte) => byte !== 0))
  } finally {
    found?.close()
  }
}

/** @returns undefined when there is no such option: WordPress has not scheduled anything yet */
async function optionOf(pages: SqlitePages, table: string, name: string): Promise<Buffer | undefined> {
  const root = await pages.rootOf(table)
  if (root === undefined) throw new UnreadableDatabase(`no table ${table}`)
  // option_id, option_name, option_value, autoload
  for await (const row of pages.rows(root)) if (row.text(1) === name) return row.longText(2, MOST_OPTION_BYTES)
  return undefined
}
