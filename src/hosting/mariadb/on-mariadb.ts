import { existsSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Path of the file with the password of a site directory's database, out of PHP's reach. The file exists exactly when
 * the site uses MariaDB.
 */
export const loginFile = (siteDirectory: string): string => join(siteDirectory, 'mariadb.json')

/** The same for a database that the site will use, but does not run on yet. */
export const nextLoginFile = (siteDirectory: string): string => join(siteDirectory, 'mariadb.next.json')

export const isOnMariaDb = (siteDirectory: string): boolean => existsSync(loginFile(siteDirectory))
