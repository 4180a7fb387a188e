import type { Connection } from 'mysql2/promise'
import type { DatabaseState } from '../../site-database/database-content.ts'
import type { SiteNames } from '../database-names.ts'
import { named, rowsOf } from '../server/connect.ts'
import { tableNames } from '../tables.ts'

/*
 * A server cannot rename a database. Instead, tables are moved from one database to another, a few at a time. The
 * comments of the databases that only Stead uses record the progress, so that a switch can continue after a crash:
 *
 * next      complete → leaving (tables of current go to previous) → entering (its own go to current) → dropped
 * previous  filling → complete → returning (current is emptied) → entering (its own go to current) → dropped
 *
 * A database without one of these words is incomplete, and counts as absent.
 */
type Mark = 'complete' | 'leaving' | 'entering' | 'filling' | 'returning' | undefined

/** Tables per statement. Each table is moved completely or not at all. */
const MOVED_AT_ONCE = 100

export async function databaseMark(connection: Connection, database: string): Promise<Mark> {
  const [row] = await rowsOf(
    connection,
    'SELECT SCHEMA_COMMENT FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?',
    [database],
  )
  return (row?.[0] || undefined) as Mark
}

export async function setMark(connection: Connection, database: string, mark: NonNullable<Mark>): Promise<void> {
  await connection.query(`ALTER DATABASE ${named(database)} COMMENT = '${mark}'`)
}

export async function dropDatabase(connection: Connection, database: string): Promise<void> {
  await connection.query('SET SESSION foreign_key_checks = 0')
  await connection.query(`DROP DATABASE IF EXISTS ${named(database)}`)
}

/** Creates an empty database, and replaces an existing one. */
export async function makeAnew(connection: Connection, database: string, mark?: NonNullable<Mark>): Promise<void> {
  await dropDatabase(connection, database)
  const comment = mark ? ` COMMENT = '${mark}'` : ''
  await connection.query(
    `CREATE DATABASE ${named(database)} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci${comment}`,
  )
}

export async function stateOf(connection: Connection, names: SiteNames): Promise<DatabaseState> {
  const [next, previous] = [await databaseMark(connection, names.next), await databaseMark(connection, names.previous)]
  const tables = await tableNames(connection, names.current)
  return {
    hasCurrent: tables.length > 0,
    hasNext: next !== undefined,
    hasPrevious: previous !== undefined && previous !== 'filling',
  }
}

/** Makes `next` the current database. The site must be locked out. */
export async function switchIn(connection: Connection, { current, next, previous }: SiteNames): Promise<void> {
  if ((await databaseMark(connection, next)) === 'complete') {
    await makeAnew(connection, previous, 'filling')
    await setMark(connection, next, 'leaving')
  }
  if ((await databaseMark(connection, next)) === 'leaving') {
    await moveAll(connection, current, previous)
    await setMark(connection, previous, 'complete')
    await setMark(connection, next, 'entering')
  }
  if ((await databaseMark(connection, next)) === 'entering') {
    await moveAll(connection, next, current)
    await dropDatabase(connection, next)
  }
}

/** Makes `previous` the current database again, even in the middle of a switch. The site must be locked out. */
export async function switchBack(connection: Connection, { current, next, previous }: SiteNames): Promise<void> {
  if ((await databaseMark(connection, next)) === 'leaving') {
    await moveAll(connection, previous, current)
    await dropDatabase(connection, previous)
    await setMark(connection, next, 'complete')
    return
  }
  if ((await databaseMark(connection, previous)) === 'complete') await setMark(connection, previous, 'returning')
  if ((await databaseMark(connection, previous)) === 'returning') {
    // The rest of it belongs to the version that is being reverted.
    if ((await databaseMark(connection, next)) === 'entering') await dropDatabase(connection, next)
    await makeAnew(connection, current)
    await setMark(connection, previous, 'entering')
  }
  if ((await databaseMark(connection, previous)) === 'entering') {
    await moveAll(connection, previous, current)
    await dropDatabase(connection, previous)
  }
}

/** Whether a process died in the middle of a switch or a revert, so that the current database is incomplete. */
export async function isCutOff(connection: Connection, { next, previous }: SiteNames): Promise<boolean> {
  const marks = [await databaseMark(connection, next), await databaseMark(connection, previous)]
  return marks.some((mark) => mark === 'leaving' || mark === 'entering' || mark === 'returning')
}

/** Finishes an interrupted switch or revert. The site must be locked out. */
export async function finishCutOff(connection: Connection, names: SiteNames): Promise<void> {
  const previous = await databaseMark(connection, names.previous)
  // First, because if both were interrupted, the revert came later.
  if (previous === 'returning' || previous === 'entering') await switchBack(connection, names)
  const next = await databaseMark(connection, names.next)
  if (next === 'leaving' || next === 'entering') await switchIn(connection, names)
}

async function moveAll(connection: Connection, from: string, to: string): Promise<void> {
  // The site may have dropped it.
  await connection.query(
    `CREATE DATABASE IF NOT EXISTS ${named(to)} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci`,
  )
  await connection.query('SET SESSION foreign_key_checks = 0')
  const tables = await tableNames(connection, from)
  for (let at = 0; at < tables.length; at += MOVED_AT_ONCE) {
    const moves = tables
      .slice(at, at + MOVED_AT_ONCE)
      .map((table) => `${named(from)}.${named(table)} TO ${named(to)}.${named(table)}`)
    await connection.query(`RENAME TABLE ${moves.join(', ')}`)
  }
}
