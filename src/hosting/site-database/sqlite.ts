import { statSync } from 'node:fs'
import { join } from 'node:path'
import { lookInside } from '../site-files/open-inside.ts'
import type { SiteDatabase } from './site-database.ts'
import { DATABASE_FILE } from './sqlite-place.ts'

/** The smallest page size. A database has at least one page (https://www.sqlite.org/fileformat.html#pages). */
const LEAST_BYTES = 512
const HEADER = Buffer.from('SQLite format 3\0')

/** The SQLite file of a site. */
export const sqliteDatabase: SiteDatabase = {
  glance(siteDirectory) {
    const stats = statSync(join(siteDirectory, DATABASE_FILE), { throwIfNoEntry: false })
    if (stats?.isFile() && stats.size >= LEAST_BYTES) return undefined
    if (stats) return 'its database file is empty'
    const hasDirectory = statSync(siteDirectory, { throwIfNoEntry: false }) !== undefined
    return hasDirectory ? 'its database file is missing' : 'its folder is missing'
  },
  inspect(siteDirectory) {
    const fault = sqliteDatabase.glance(siteDirectory)
    if (fault) return fault
    const found = lookInside(siteDirectory, DATABASE_FILE)
    try {
      return found?.read(0, HEADER.length).equals(HEADER) ? undefined : 'its database file is damaged'
    } finally {
      found?.close()
    }
  },
}
