import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { LRUCache } from 'lru-cache'

export interface NodeSqliteOptions {
  readonly file: string
  /** A read connection never writes and takes no turn: several queries of one process may be in flight on it. */
  readonly readOnly: boolean
  /** How long a transaction waits for another process' before it fails; default 30 s. */
  readonly lockTimeoutMs?: number
  /**
   * What is written may be lost when the power fails (never when a process dies): commits do not wait for the disk, which on a busy one
   * would stop the thread for seconds. Others check-point what it wrote.
   */
  readonly mayLose?: boolean
  /** Nobody else may have the file open, and nobody gets it until it is closed. @throws SQLite's BUSY */
  readonly alone?: boolean
  /** Takes this in place of opening the file, and closes it in the end: its owner asks it for something besides. */
  readonly opened?: DatabaseSync
}

/** Kysely over Node's own SQLite. A writing connection is lent to one user at a time, in order of asking. */
export function nodeSqliteDialect(options: NodeSqliteOptions): Dialect {
  return {
    createAdapter: () => new NodeSqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

const SQLITE_BUSY = 5
/** How long a transaction waits for another process' before it fails. */
const LOCK_TIMEOUT_MS = 30_000

class NodeSqliteAdapter extends SqliteAdapter {
  /** SQLite rolls schema changes back like any other; Kysely says no because of drivers that share one connection. */
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class NodeSqliteDriver implements Driver {
  readonly #options: NodeSqliteOptions
  #connection: NodeSqliteConnection | undefined
  #turn: Promise<void> = Promise.resolve()
  #endTurn: (() => void) | undefined

  constructor(options: NodeSqliteOptions) {
    this.#options = options
  }

  async init(): Promise<void> {
    this.#connection = new NodeSqliteConnection(this.#options.opened ?? openSqlite(this.#options))
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    if (!this.#options.readOnly) {
      const previous = this.#turn
      let end: () => void = () => {}
      this.#turn = new Promise((resolve) => {
        end = resolve
      })
      await previous
      this.#endTurn = end
    }
    return this.#connection as NodeSqliteConnection
  }

  async releaseConnection(): Promise<void> {
    this.#endTurn?.()
  }

  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const giveUpAt = performance.now() + (this.#options.lockTimeoutMs ?? LOCK_TIMEOUT_MS)
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, 20)) {
      try {
        // IMMEDIATE: two transactions that read and then write would otherwise end in SQLITE_BUSY without any waiting
        await connection.executeQuery(CompiledQuery.raw('begin immediate'))
        return
      } catch (error) {
        if ((error as { errcode?: number }).errcode !== SQLITE_BUSY || performance.now() > giveUpAt) throw error
      }
      await pause(waitMs)
    }
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'))
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // after a full disk SQLite has rolled back by itself: a second time would be an error that hides the first
    if (!(connection as NodeSqliteConnection).isInTransaction) return
    await connection.executeQuery(CompiledQuery.raw('rollback'))
  }

  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint "${name}"`))
  }

  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to "${name}"`))
  }

  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release "${name}"`))
  }

  async destroy(): Promise<void> {
    this.#connection?.close()
    this.#connection = undefined
  }
}

interface Prepared {
  readonly statement: StatementSync
  /** Columns of its rows; 0 for a statement that returns none. */
  readonly width: number
  readonly rowOf: (values: unknown[]) => unknown
}

function preparedOf(statement: StatementSync): Prepared {
  const names = statement.columns().map(({ name }) => name)
  if (names.length > 0) statement.setReturnArrays(true)
  return { statement, width: names.length, rowOf: rowMaker(names) }
}

/**
 * Makes a row of its values. SQLite's own objects are dictionaries, slow to make and slow to read: of a site's 35 columns that is a third of the
 * time of a select. These have one shape a statement, as an object literal has. The names are those of our own statements.
 */
function rowMaker(names: readonly string[]): (values: unknown[]) => unknown {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  return new Function('values', `return {${fields.join(', ')}}`) as (values: unknown[]) => unknown
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  /** Preparing costs about as much as running a primary-key select. */
  readonly #statements = new LRUCache<string, Prepared>({ max: 500 })

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    let prepared = this.#statements.get(sql)
    if (!prepared) {
      prepared = preparedOf(this.#database.prepare(sql))
      this.#statements.set(sql, prepared)
    }
    const values = parameters as SQLInputValue[]
    const { statement, width } = prepared
    if (width > 0) {
      const rows = statement.all(...values) as unknown as unknown[][]
      // another program's migration has given a table another column: SQLite has prepared the statement anew by itself
      if (rows.length > 0 && rows[0]?.length !== width) Object.assign(prepared, preparedOf(statement))
      return { rows: rows.map(prepared.rowOf) as Row[] }
    }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  // biome-ignore lint/correctness/useYield: the interface asks for a generator, and nothing in Stead streams rows
  async *streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('streaming of rows is not supported on SQLite')
  }

  close(): void {
    this.#statements.clear()
    this.#database.close()
  }
}

/** Opens a database file with the pragmas that every connection of Stead has. */
export function openSqlite({ file, readOnly, mayLose = false, alone = false }: NodeSqliteOptions): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 10_000 })
  if (alone) takeAlone(database)
  database.exec('pragma foreign_keys = on')
  if (readOnly) database.exec('pragma query_only = on')
  else {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864')
    if (mayLose) database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
    // SQLite's own waiting blocks the thread, and with it the other connection of the same process that holds the lock
    database.exec('pragma busy_timeout = 0')
  }
  return database
}

function takeAlone(database: DatabaseSync): void {
  try {
    database.exec('pragma busy_timeout = 0; pragma locking_mode = exclusive; begin exclusive; commit')
  } catch (error) {
    database.close()
    throw error
  }
}
