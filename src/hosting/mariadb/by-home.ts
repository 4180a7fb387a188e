import type { DatabaseContent, SiteHome } from '../site-database/database-content.ts'
import { type SiteDatabase, SiteUnavailable } from '../site-database/site-database.ts'
import { sqliteDatabase } from '../site-database/sqlite.ts'
import { isOnMariaDb } from './on-mariadb.ts'

/** The database of a site, whatever kind it is. That a server does not answer is WordPress' to say: it comes back by itself, and the site is not lost. */
export const anyDatabase: SiteDatabase = {
  glance(homePath) {
    const fault = sqliteDatabase.glance(homePath)
    return fault && isOnMariaDb(homePath) ? undefined : fault
  },
  inspect(homePath) {
    return isOnMariaDb(homePath) ? undefined : sqliteDatabase.inspect(homePath)
  },
}

/**
 * The door to databases of both kinds: a home says which it has.
 * @param mariaDb undefined: this host has none
 */
export function contentByHome(sqlite: DatabaseContent, mariaDb: DatabaseContent | undefined): DatabaseContent {
  const of = ({ homePath }: SiteHome): DatabaseContent => {
    if (!isOnMariaDb(homePath)) return sqlite
    if (mariaDb) return mariaDb
    throw new SiteUnavailable('The site uses MariaDB, which is turned off on this host (STEAD_MARIADB)')
  }
  return {
    size: async (home) => of(home).size(home),
    snapshot: async (home) => of(home).snapshot(home),
    load: async (home, sql, options) => of(home).load(home, sql, options),
    tryOut: async (home, sql, options) => of(home).tryOut(home, sql, options),
    state: async (home) => of(home).state(home),
    switch: async (home) => of(home).switch(home),
    switchBack: async (home) => of(home).switchBack(home),
    settle: async (home) => of(home).settle(home),
    drop: async (home) => of(home).drop(home),
  }
}
