import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where a site directory keeps the password of its database: PHP does not come there. That it is there says that the site has one on MariaDB. */
export const loginFile = (siteDirectory: string): string => join(siteDirectory, 'mariadb.json')

/** The same for a database that the site is to have, and does not run on yet. */
export const nextLoginFile = (siteDirectory: string): string => join(siteDirectory, 'mariadb.next.json')

export const isOnMariaDb = (siteDirectory: string): boolean => existsSync(loginFile(siteDirectory))
