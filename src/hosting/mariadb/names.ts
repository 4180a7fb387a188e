import { basename } from 'node:path'
import { directoryNumber } from '../identity/folder.ts'
import type { SitePlace } from '../site-database/database-content.ts'

/** What all of a site's is called: databases, and accounts. Made of the site directory's number, which is never given out twice. */
export interface SiteNames {
  /** The database that the site runs on; its account has the same name. */
  readonly current: string
  readonly next: string
  readonly previous: string
  /** Where a dump is loaded once to see that it can be; nothing of it is the site's. */
  readonly scratch: string
  /** The host's account for this site's databases and no others. */
  readonly worker: string
}

/** Letters, digits and `_`; 64 are what a server allows, and the names of sites add up to 26. */
const PREFIX = /^stead_[a-z0-9]{1,30}_$/

/**
 * What all names of one installation begin with: several may share a server.
 * @param installation random hexadecimal digits
 */
export function prefixOf(installation: string): string {
  const prefix = `stead_${installation.slice(0, 8)}_`
  if (!PREFIX.test(prefix)) throw new Error(`${installation} is no identity`)
  return prefix
}

export function namesOf(prefix: string, { siteDirectory }: Pick<SitePlace, 'siteDirectory'>): SiteNames {
  const number = directoryNumber(basename(siteDirectory))
  if (number === undefined) throw new Error(`${siteDirectory} is not a site directory`)
  const current = `${prefix}h${number}`
  return {
    current,
    next: `${current}_next`,
    previous: `${current}_previous`,
    scratch: `${current}_scratch`,
    worker: `${current}_host`,
  }
}

/** The site directory's number of an account or a database; undefined: it is none of a site. */
export function directoryOfName(prefix: string, name: string): number | undefined {
  return name.startsWith(prefix) ? directoryNumber(name.slice(prefix.length)) : undefined
}

/** A database's name as GRANT takes it: there `_` and `%` stand for other letters, `h1` must not mean `h1` and `h_`. */
export const inGrant = (database: string): string => `\`${database.replaceAll(/[_%\\]/g, '\\$&')}\``
