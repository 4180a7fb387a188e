import { basename } from 'node:path'
import { directoryNumber } from '../identity/folder.ts'
import type { SitePlace } from '../site-database/database-content.ts'

/** Names of a site's databases and accounts. They derive from the site directory's number, which is never reused. */
export interface SiteNames {
  /** The database that the site runs on. Its account has the same name. */
  readonly current: string
  readonly next: string
  readonly previous: string
  /** Where a dump is loaded as a dry run. Nothing in it belongs to the site. */
  readonly scratch: string
  /** The host's account for this site's databases only. */
  readonly worker: string
}

/** Letters, digits, and `_`. A server allows 64 characters, and the names of sites add up to 26. */
const PREFIX = /^stead_[a-z0-9]{1,30}_$/

/**
 * Returns the prefix of all names of one installation, because several may share a server.
 * @param installation random hexadecimal digits
 */
export function prefixOf(installation: string): string {
  const prefix = `stead_${installation.slice(0, 8)}_`
  if (!PREFIX.test(prefix)) throw new Error(`${installation} is not an identity`)
  return prefix
}

export function databaseNames(prefix: string, { siteDirectory }: Pick<SitePlace, 'siteDirectory'>): SiteNames {
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

/**
 * Returns the site directory's number in the name of an account or a database, or undefined when it is not a site's.
 */
export function directoryOfName(prefix: string, name: string): number | undefined {
  return name.startsWith(prefix) ? directoryNumber(name.slice(prefix.length)) : undefined
}

/** Escapes a database's name for GRANT. There, `_` and `%` are wildcards, and a grant must match one database only. */
export const inGrant = (database: string): string => `\`${database.replaceAll(/[_%\\]/g, '\\$&')}\``
