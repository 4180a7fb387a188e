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
  /** A read connection never writes and needs no turn: several queries of one process may be in flight on it. */
  readonly readOnly: boolean
  /** How long a transaction waits for that of another process before it fails. 30 s by default. */
  readonly lockTimeoutMs?: number
  /**
   * Whether writes may be lost in a power failure (but never when a process dies). Commits then do not wait for the
   * disk, which could block the thread for seconds if the disk is busy. Other processes checkpoint the writes.
   */
  readonly mayLose?: boolean
  /**
   * Whether the file must not be open elsewhere, and stays locked until it is closed.
   * @throws SQLite's BUSY
   */
  readonly alone?: boolean
  /**
   * An open database to use instead of opening the file. It is closed in the end. Its owner also queries it directly.
   */
  readonly opened?: DatabaseSync
}

/**
 * Creates a Kysely dialect for Node's own SQLite. A write connection has one user at a time, in the order of requests.
 */
export function nodeSqliteDialect(options: NodeSqliteOptions): Dialect {
  return {
    createAdapter: () => new NodeSqliteAdapter(),
    createDriver: () => new NodeSqliteDriver(options),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

const SQLITE_BUSY = 5
/** How long a transaction waits for that of another process before it fails. */
const LOCK_TIMEOUT_MS = 30_000

class NodeSqliteAdapter extends SqliteAdapter {
  /** SQLite rolls back schema changes like any other. Kysely says no because of drivers that share one connection. */
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
        // IMMEDIATE, because two transactions that read and then write would otherwise end in SQLITE_BUSY without a
        // wait.
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
    // After a full disk SQLite has already rolled back. A second rollback would fail, and its error would hide the
    // first one.
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
  /** The number of columns of its rows; 0 for a statement that returns none. */
  readonly width: number
  readonly rowOf: (values: unknown[]) => unknown
}

function preparedOf(statement: StatementSync): Prepared {
  const names = statement.columns().map(({ name }) => name)
  if (names.length > 0) statement.setReturnArrays(true)
  return { statement, width: names.length, rowOf: rowMaker(names) }
}

/**
 * Creates a function that turns values into a row. SQLite's own objects are dictionaries, slow to create and slow to
 * read: for a site's 35 columns that is a third of the time of a select. These rows have one shape per statement, like
 * an object literal. The names come from our own statements.
 */
function rowMaker(names: readonly string[]): (values: unknown[]) => unknown {
  const fields = names.map((name, index) => `${JSON.stringify(name)}: values[${index}]`)
  return new Function('values', `return {${fields.join(', ')}}`) as (values: unknown[]) => unknown
}

class NodeSqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync
  /** A cache, because to prepare a statement costs about as much as a select by primary key. */
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
      // The migration of another program has added a column to a table, and SQLite has prepared the statement again.
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

/** Opens a database file with the pragmas of every connection of Stead. */
export function openSqlite({ file, readOnly, mayLose = false, alone = false }: NodeSqliteOptions): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 10_000 })
  if (alone) takeAlone(database)
  database.exec('pragma foreign_keys = on')
  if (readOnly) database.exec('pragma query_only = on')
  else {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864')
    if (mayLose) database.exec('pragma synchronous = normal; pragma wal_autocheckpoint = 0')
    // SQLite's own wait blocks the thread, and with it the other connection of the same process that holds the lock.
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
