import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where a home keeps the password of its database: PHP does not come there. That it is there says that the site has one on MariaDB. */
export const loginFile = (homePath: string): string => join(homePath, 'mariadb.json')

/** The same for a database that the site is to have, and does not run on yet. */
export const nextLoginFile = (homePath: string): string => join(homePath, 'mariadb.next.json')

export const isOnMariaDb = (homePath: string): boolean => existsSync(loginFile(homePath))
