import { setImmediate as breathe } from 'node:timers/promises'
import type { Connection, ResultSetHeader } from 'mysql2/promise'
import { DumpUnreadable, type Loaded, type LoadOptions } from '../../site-database/database-content.ts'
import { addressRewriter } from '../../site-database/rewrite-addresses.ts'
import { describeLost } from '../../site-database/sql/beyond.ts'
import { DumpLoad } from '../../site-database/sql/dump-load.ts'
import { readableDump } from '../../site-database/sql/readable-dump.ts'
import { UnreadableSql } from '../../site-database/sql/sql-tokens.ts'
import type { TableDefinition } from '../../site-database/sql/table.ts'
import { DiskFull } from '../../site-directories/disk-space.ts'
import { bytesOf, errorOf, named, rowsOf } from '../server/connect.ts'
import { createTextOf, readCreateText, tableNames } from '../tables.ts'
import { LoadStatements } from './load-statements.ts'
import { checkWarnings } from './load-warnings.ts'

/** Bytes read between two turns of the event loop, which takes a few milliseconds. */
const SLICE_BYTES = 64 << 10
/** Disk space is checked after this many bytes. */
const LOOKS_EVERY_BYTES = 4 << 20

/**
 * The session modes that dumps expect. WordPress works without strict modes, so a site's tables have rows that a strict
 * server would reject. A server without them reports in warnings what it changes, and `checkWarnings` rejects that.
 */
const SESSION = [
  "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'",
  "SET SESSION lc_messages = 'en_US', SESSION sql_notes = 0, SESSION max_error_count = 65535",
  'SET SESSION foreign_key_checks = 0, SESSION check_constraint_checks = 0, SESSION innodb_strict_mode = 0',
] as const

export interface LoadPlace {
  /** Connected as the site's worker, without a database. */
  readonly connection: Connection
  readonly database: string
  /** @throws DiskFull */
  readonly checkRoom: () => Promise<void>
  /** Builds the statements. Default: creates the dump's tables. */
  readonly statements?: LoadStatements
}

/** Prepares a session for statements that load a dump. */
export async function beginLoad(connection: Connection, database: string): Promise<void> {
  await connection.query(`USE ${named(database)}`)
  for (const statement of SESSION) await connection.query(statement)
}

/** Loads the tables of a dump into a database, which keeps its other tables. @throws DumpUnreadable, DiskFull */
export async function loadDump(
  { connection, database, checkRoom, statements: chosen }: LoadPlace,
  sql: AsyncIterable<Uint8Array>,
  { tables, changes = [], foreign, signal, onProgress = () => {} }: LoadOptions = {},
): Promise<Loaded> {
  await beginLoad(connection, database)
  const [most] = await rowsOf(connection, 'SELECT @@max_allowed_packet')
  const statements = chosen ?? new LoadStatements(addressRewriter(changes))
  const dump = new DumpLoad(statements, { ...(tables && { wanted: tables }), ...(foreign && { foreign }) })
  const lost: TableDefinition[] = []
  let unlooked = LOOKS_EVERY_BYTES
  const run = async () => {
    for (const { sql, mayWarn, otherwise } of statements.ready()) {
      signal?.throwIfAborted()
      // Plus the byte for the command. The server would close the connection.
      if (sql.length + 1 > Number(most?.[0]))
        throw new UnreadableSql(
          `A row has ${sql.length} bytes, but the server accepts ${most?.[0]} (max_allowed_packet)`,
        )
      unlooked += sql.length
      if (unlooked >= LOOKS_EVERY_BYTES) {
        await checkRoom()
        unlooked = 0
      }
      const [{ warningStatus }] = await connection.query<ResultSetHeader>(sql).catch((error) => {
        if (!otherwise || !isOfStatement(error)) throw error
        lost.push(otherwise.table)
        return connection.query<ResultSetHeader>(otherwise.sql)
      })
      if (mayWarn && warningStatus > 0) await checkWarnings(connection, mayWarn)
    }
  }
  try {
    let doneBytes = 0
    const counted = async function* () {
      for await (const piece of sql) {
        yield piece
        doneBytes += piece.length
        onProgress(doneBytes)
      }
    }
    for await (const piece of foreign ? readableDump(counted()) : counted()) {
      for (let at = 0; at < piece.length; at += SLICE_BYTES) {
        if (at > 0) await breathe()
        dump.write(piece.subarray(at, at + SLICE_BYTES))
        await run()
      }
    }
    dump.finish()
    statements.end()
    await run()
    const { result } = dump
    const warning = [result.warning, describeLost(lost)].filter(Boolean).join('. ')
    return { ...result, ...(warning && { warning }) }
  } catch (error) {
    signal?.throwIfAborted()
    const isRefused = foreign !== undefined && isOfStatement(error)
    throw asDumpError(isRefused ? dump.refused(errorOf(error).message) : dump.placed(error))
  }
}

/** Copies all tables of a database into another. No statement of the site may run meanwhile. */
export async function copyTables(connection: Connection, from: string, to: string): Promise<void> {
  await beginLoad(connection, to)
  for (const name of await tableNames(connection, from)) {
    const text = await createTextOf(connection, from, name)
    await connection.query(bytesOf(text))
    const columns = readCreateText(text)
      .columns.map((column) => named(column.name))
      .join(', ')
    await connection.query(
      `INSERT INTO ${named(name)} (${columns}) SELECT ${columns} FROM ${named(from)}.${named(name)}`,
    )
  }
}

/** Disk full, as InnoDB and the operating system report it. */
const FULL: readonly number[] = [1021, 1114]
/**
 * The server has stopped, or someone has stopped the statement, which is not the dump's fault. Other errors are about
 * the statement, and so about the dump.
 */
const NOT_THE_DUMP: readonly number[] = [
  1040, 1053, 1077, 1078, 1079, 1080, 1158, 1159, 1160, 1161, 1203, 1205, 1213, 1317, 1927, 1969,
]

/** Whether the server rejected a statement. Only its own errors have an SQL state. */
function isOfStatement(error: unknown): boolean {
  const { errno, sqlState } = error as { errno?: number; sqlState?: string }
  return errno !== undefined && sqlState !== undefined && ![...NOT_THE_DUMP, ...FULL].includes(errno)
}

export function asDumpError(error: unknown): unknown {
  if (error instanceof UnreadableSql)
    return new DumpUnreadable(`The dump cannot be loaded: ${error.full}`, { cause: error })
  const { errno, message } = errorOf(error)
  if (errno !== undefined && FULL.includes(errno)) return new DiskFull('The disk of the host is full', { cause: error })
  if (!isOfStatement(error)) return error
  return new DumpUnreadable(`The dump cannot be loaded: ${message}`, { cause: error })
}
