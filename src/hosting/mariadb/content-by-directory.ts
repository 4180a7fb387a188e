import type { DatabaseContent, SitePlace } from '../site-database/database-content.ts'
import { type SiteDatabase, SiteUnavailable } from '../site-database/site-database.ts'
import { sqliteDatabase } from '../site-database/sqlite.ts'
import { isOnMariaDb } from './on-mariadb.ts'

/**
 * The database of a site, of either kind. If a server does not answer, WordPress reports it: the server recovers on its
 * own, and the site is not missing.
 */
export const anyDatabase: SiteDatabase = {
  glance(siteDirectory) {
    const fault = sqliteDatabase.glance(siteDirectory)
    return fault && isOnMariaDb(siteDirectory) ? undefined : fault
  },
  inspect(siteDirectory) {
    return isOnMariaDb(siteDirectory) ? undefined : sqliteDatabase.inspect(siteDirectory)
  },
}

/**
 * Gives access to databases of both kinds. The site directory determines which one a site has.
 * @param mariaDb undefined when this host has none
 */
export function contentByDirectory(sqlite: DatabaseContent, mariaDb: DatabaseContent | undefined): DatabaseContent {
  const of = ({ siteDirectory }: SitePlace): DatabaseContent => {
    if (!isOnMariaDb(siteDirectory)) return sqlite
    if (mariaDb) return mariaDb
    throw new SiteUnavailable('The site uses MariaDB, which is turned off on this host (STEAD_MARIADB)')
  }
  return {
    size: async (directory) => of(directory).size(directory),
    snapshot: async (directory) => of(directory).snapshot(directory),
    load: async (directory, sql, options) => of(directory).load(directory, sql, options),
    tryOut: async (directory, sql, options) => of(directory).tryOut(directory, sql, options),
    state: async (directory) => of(directory).state(directory),
    switch: async (directory) => of(directory).switch(directory),
    switchBack: async (directory) => of(directory).switchBack(directory),
    totals: async (directory) => of(directory).totals(directory),
    bringLevel: async (directory, sql, change, options) => of(directory).bringLevel(directory, sql, change, options),
    cleanUp: async (directory) => of(directory).cleanUp(directory),
    drop: async (directory) => of(directory).drop(directory),
  }
}
