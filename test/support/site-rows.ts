import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createConnection } from 'mysql2/promise'
import type { Stead } from './stead.ts'

type Row = Record<string, unknown>

/** Runs a statement in a site's database of any kind, as the site's own user if it has one. @returns its rows */
export async function siteRows(stead: Stead, name: string, sql: string, values: string[] = []): Promise<Row[]> {
  const directory = stead.directoryOf(name)
  const constants = databaseConstants(await readFile(join(directory, 'web/wp-config.php'), 'utf8'))
  if (constants.DB_FILE) {
    const database = new DatabaseSync(join(directory, 'private/database', constants.DB_FILE), { readOnly: true })
    try {
      return database.prepare(sql).all(...values)
    } finally {
      database.close()
    }
  }
  const { DB_NAME: database = '', DB_USER: user = '', DB_PASSWORD: password = '' } = constants
  const socketPath = join(stead.dataDir, 'mariadb/run/socket')
  const connection = await createConnection({ socketPath, database, user, password })
  try {
    const [rows] = await connection.query(sql, values)
    return rows as Row[]
  } finally {
    await connection.end()
  }
}

/** Returns the database constants of a `wp-config.php`. */
export const databaseConstants = (config: string): Record<string, string> =>
  Object.fromEntries([...config.matchAll(/^define\('(DB_\w+)', '(.*)'\);$/gm)].map(([, key, value]) => [key, value]))
