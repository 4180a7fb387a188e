import type { Duplex } from 'node:stream'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import pg from 'pg'
import { PreparedClient } from './prepared-client.ts'

/** bigint and count(*) arrive as text otherwise; ids and milliseconds stay far below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Connections of a process, for transactions and for reads alike. */
const MOST_CONNECTIONS = 16

/**
 * Kysely over PostgreSQL with statements sent ahead of the answers to earlier ones (pipelining): the wait for each answer, and
 * the system calls around it, cost a program more than the statements cost the server.
 */
export function postgresDialect(url: string, use: 'transactions' | 'reads'): Dialect {
  const client = { connectionString: url, application_name: 'stead', pipeline: true }
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => (use === 'reads' ? new ReadDriver(client) : new TransactionDriver(client)),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

/**
 * Sent before the first statement. Statements are never compiled: with tables that the server knows little about it expects more
 * work than there is, and compiles (8 ms) what runs in 0.1 ms.
 */
function setUp(client: pg.ClientBase): void {
  // a connection that is lost here fails the statement that it was opened for
  client.query('set jit = off').catch(() => {})
}

const deferred = new WeakSet<CompiledQuery>()

/**
 * Marks a statement whose answer nobody needs: on PostgreSQL the transaction goes on without waiting for it. Should it fail, the
 * next statement that is waited for, or the commit, fails with its error.
 */
export function withoutWaiting<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
  deferred.add(query)
  return query
}

/** Lends a connection to one transaction at a time. */
class TransactionDriver implements Driver {
  readonly #pool: pg.Pool

  constructor(config: pg.PoolConfig) {
    this.#pool = new pg.Pool({ ...config, max: MOST_CONNECTIONS, Client: PreparedClient })
    // an idle connection that the server closes must not end the process; the next query opens another
    this.#pool.on('error', () => {})
    this.#pool.on('connect', setUp)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<TransactionConnection> {
    return new TransactionConnection(await this.#pool.connect())
  }

  async beginTransaction(connection: TransactionConnection): Promise<void> {
    await connection.executeQuery(withoutWaiting(CompiledQuery.raw('begin')))
  }

  async commitTransaction(connection: TransactionConnection): Promise<void> {
    await connection.commit()
  }

  async rollbackTransaction(connection: TransactionConnection): Promise<void> {
    await connection.rollback()
  }

  async releaseConnection(connection: TransactionConnection): Promise<void> {
    connection.release()
  }

  async destroy(): Promise<void> {
    await this.#pool.end()
  }
}

class TransactionConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  /** The first failure of a statement that nobody waited for. */
  #failure: { readonly error: unknown } | undefined
  #isBroken = false
  /** Statements that nobody waits for leave together with the next one: one system call for all. */
  #isHeld = false
  readonly #stream: Duplex

  constructor(client: pg.PoolClient) {
    this.#client = client
    this.#stream = (client as unknown as { connection: { stream: Duplex } }).connection.stream
  }

  #hold(): void {
    if (!this.#isHeld) this.#stream.cork()
    this.#isHeld = true
  }

  #send(): void {
    if (this.#isHeld) this.#stream.uncork()
    this.#isHeld = false
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (deferred.has(query)) {
      this.#hold()
      run(this.#client, query).catch((error) => {
        this.#failure ??= { error }
      })
      return { rows: [] }
    }
    try {
      const answer = run<Row>(this.#client, query)
      this.#send()
      const result = await answer
      // answers come in order: a failure of a statement sent before is known by now
      if (this.#failure) throw this.#failure.error
      return result
    } catch (error) {
      // the server refuses whatever follows a failure; the failure itself says more
      throw this.#failure ? this.#failure.error : error
    }
  }

  async commit(): Promise<void> {
    const answer = this.#client.query('commit')
    this.#send()
    const { command } = await answer
    if (this.#failure) throw this.#failure.error
    // the server ends a transaction like this when a statement of it has failed and nobody was told
    if (command === 'ROLLBACK') throw new Error('A statement of the transaction failed, so that nothing of it was kept')
  }

  async rollback(): Promise<void> {
    try {
      const answer = this.#client.query('rollback')
      this.#send()
      await answer
    } catch (error) {
      // a connection in an unknown state must not reach the next transaction
      this.#isBroken = true
      throw error
    }
  }

  release(): void {
    this.#send()
    this.#client.release(this.#isBroken)
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface; nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('PostgreSQL rows are not streamed')
  }
}

/** Sends at most so many statements ahead on one connection while another one is free. */
const MOST_AHEAD = 8
/** A statement that takes longer must not hold up those that come after it: they take another connection. */
const SLOW_MS = 10

/** Shares few connections among all readers. Each statement stands alone. */
class ReadDriver implements Driver, DatabaseConnection {
  readonly #config: pg.ClientConfig
  readonly #lines = new Set<Line>()
  #isClosed = false

  constructor(config: pg.ClientConfig) {
    this.#config = config
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this
  }

  async releaseConnection(): Promise<void> {}

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isClosed) throw new Error('The database is closed')
    const line = this.#freeLine() ?? (this.#lines.size < MOST_CONNECTIONS ? this.#newLine() : this.#shortestLine())
    return line.run<Row>(query)
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#lines].map((line) => line.close()))
  }

  #freeLine(): Line | undefined {
    const now = performance.now()
    for (const line of this.#lines)
      if (line.ahead === 0 || (line.ahead < MOST_AHEAD && now - line.movedAt < SLOW_MS)) return line
    return undefined
  }

  #shortestLine(): Line {
    return [...this.#lines].reduce((shortest, line) => (line.ahead < shortest.ahead ? line : shortest))
  }

  #newLine(): Line {
    const line: Line = new Line(this.#config, () => this.#lines.delete(line))
    this.#lines.add(line)
    return line
  }

  async beginTransaction(): Promise<void> {
    throw new Error('Reads need no transaction')
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  // biome-ignore lint/correctness/useYield: Kysely's interface; nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('PostgreSQL rows are not streamed')
  }
}

/** One connection with the statements that wait for their answers on it. */
class Line {
  /** Statements sent and not yet answered. */
  ahead = 0
  /** When it last became busy or gave an answer, by the clock of `performance.now()`. */
  movedAt = 0
  readonly #client: PreparedClient
  readonly #connected: Promise<unknown>
  #isConnected = false

  constructor(config: pg.ClientConfig, onEnd: () => void) {
    this.#client = new PreparedClient(config)
    // told to those who wait for an answer; the next statement opens another connection
    this.#client.on('error', onEnd)
    this.#client.on('end', onEnd)
    this.#connected = this.#client.connect().then(
      () => {
        setUp(this.#client)
        this.#isConnected = true
      },
      (error) => {
        onEnd()
        throw error
      },
    )
    this.#connected.catch(() => {})
  }

  async run<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.ahead++ === 0) this.movedAt = performance.now()
    try {
      if (!this.#isConnected) await this.#connected
      return await run<Row>(this.#client, query)
    } finally {
      this.ahead--
      this.movedAt = performance.now()
    }
  }

  async close(): Promise<void> {
    // a failed connection has nothing to close
    await this.#connected.then(() => this.#client.end()).catch(() => {})
  }
}

async function run<Row>(client: pg.ClientBase, query: CompiledQuery): Promise<QueryResult<Row>> {
  const { rows, rowCount, command } = await client.query(query.sql, query.parameters as unknown[])
  const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE'
  return isChange ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
}
