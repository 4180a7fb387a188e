import type { Connection } from 'mysql2/promise'
import { inGrant } from './database-names.ts'
import { named, rowsOf } from './server/connect.ts'

/**
 * The rights of a site on its database.
 *
 * all      everything that WordPress needs
 * reduced  the site is over its quota: it adds nothing, but users can still sign in, delete, and move posts to the trash
 * least    the site grew further with reduced rights: it can only read and delete
 */
export type RightsLevel = 'all' | 'reduced' | 'least'

/**
 * Everything that WordPress and its plugins need within a database. Excludes objects that a dump would not contain
 * (views, triggers, routines, events) and rights beyond the database (FILE, PROCESS, SUPER, accounts).
 */
export const SITE_RIGHTS =
  'SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER, REFERENCES, CREATE TEMPORARY TABLES, LOCK TABLES'

const rights: Record<RightsLevel, { readonly granted: string; readonly revoked?: string }> = {
  all: { granted: SITE_RIGHTS },
  reduced: {
    granted: 'SELECT, UPDATE, DELETE, DROP, LOCK TABLES',
    revoked: 'INSERT, CREATE, INDEX, ALTER, REFERENCES, CREATE TEMPORARY TABLES',
  },
  least: {
    granted: 'SELECT, DELETE, DROP, LOCK TABLES',
    revoked: 'INSERT, UPDATE, CREATE, INDEX, ALTER, REFERENCES, CREATE TEMPORARY TABLES',
  },
}

/** WordPress inserts a row here when a user signs in. A network has only one such table too. */
const SIGN_IN_TABLES = '%usermeta'
const MOST_SIGN_IN_TABLES = 4

export interface SiteAccount {
  readonly database: string
  readonly user: string
  /** Host that it connects from. */
  readonly host: string
}

/** Changes the rights of a site's account. Open connections may keep the earlier rights: end them when this takes something away. */
export async function setRights(connection: Connection, account: SiteAccount, level: RightsLevel): Promise<void> {
  const { database, user, host } = account
  const at = `'${user}'@'${host}'`
  const { granted, revoked } = rights[level]
  // First, so that the account always has some rights.
  await connection.query(`GRANT ${granted} ON ${inGrant(database)}.* TO ${at}`)
  if (revoked) await connection.query(`REVOKE ${revoked} ON ${inGrant(database)}.* FROM ${at}`)
  const granting = level === 'reduced' ? await signInTables(connection, database) : []
  for (const table of await grantedTables(connection, account))
    if (!granting.includes(table))
      await connection.query(`REVOKE INSERT ON ${named(database)}.${named(table)} FROM ${at}`)
  for (const table of granting) await connection.query(`GRANT INSERT ON ${named(database)}.${named(table)} TO ${at}`)
}

/** Returns the level of every account that does not have all rights, as the server's own tables say. */
export async function reducedAccounts(connection: Connection, prefix: string): Promise<Map<string, RightsLevel>> {
  const rows = await rowsOf(
    connection,
    "SELECT User, Update_priv FROM mysql.db WHERE User LIKE ? AND User NOT LIKE '%\\_host' AND Insert_priv = 'N'",
    [`${prefix.replaceAll('_', '\\_')}%`],
  )
  return new Map(rows.map(([user = '', update]) => [user, update === 'Y' ? 'reduced' : 'least']))
}

async function signInTables(connection: Connection, database: string): Promise<string[]> {
  const rows = await rowsOf(
    connection,
    `SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE ? ORDER BY LENGTH(TABLE_NAME) LIMIT ${MOST_SIGN_IN_TABLES}`,
    [database, SIGN_IN_TABLES],
  )
  return rows.map(([name]) => name as string)
}

async function grantedTables(connection: Connection, { database, user }: SiteAccount): Promise<string[]> {
  const rows = await rowsOf(connection, 'SELECT Table_name FROM mysql.tables_priv WHERE Db = ? AND User = ?', [
    database,
    user,
  ])
  return rows.map(([name]) => name as string)
}
