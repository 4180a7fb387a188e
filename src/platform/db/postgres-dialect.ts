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
import { LRUCache } from 'lru-cache'
import pg from 'pg'
import { CommitUnknown } from './commit-unknown.ts'
import { LIFT_LIMITS, TRANSACTION_MS } from './postgres-client.ts'
import { openPool } from './postgres-pool.ts'
import { isOutdatedPlan, PreparedClient } from './prepared-client.ts'

/** Otherwise bigint and count(*) arrive as text. Ids and milliseconds stay far below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** The most connections of a process. A server allows 100 by default, and several processes share them. */
const MOST_TRANSACTIONS = 10
const MOST_READERS = 6
/** The idle time after which a read connection is closed. Those of transactions close automatically. */
const IDLE_MS = 10_000

/**
 * Creates a Kysely dialect for PostgreSQL that sends statements before earlier answers arrive (pipelining). The wait
 * for each answer, and the system calls around it, cost a program more than the statements cost the server.
 */
export function postgresDialect(url: string, use: 'transactions' | 'reads'): Dialect {
  const client = { connectionString: url, application_name: 'stead' }
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => (use === 'reads' ? new ReadDriver(client) : new TransactionDriver(client)),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }
}

const deferred = new WeakSet<CompiledQuery>()

/**
 * Marks a statement whose answer is not needed. On PostgreSQL the transaction continues without waiting for it. If it
 * fails, the next awaited statement, or the commit, fails with its error.
 */
export function withoutWaiting<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
  deferred.add(query)
  return query
}

/** The first statement of a transaction that may exceed the time limits. */
export const noTimeLimit = CompiledQuery.raw(LIFT_LIMITS)

/**
 * Returns the stream to which a connection writes its statements, which is private to pg and not documented. If a test
 * of it fails with a new pg, find where pg keeps its stream now. If there is none, remove `#hold` and `#send`:
 * statements then leave one by one, which is slower but correct.
 */
export const privateStream = (client: pg.ClientBase): Duplex =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream

/** Lends a connection to one transaction at a time. */
class TransactionDriver implements Driver {
  readonly #pool: pg.Pool

  constructor(config: pg.PoolConfig) {
    this.#pool = openPool({ ...config, max: MOST_TRANSACTIONS, Client: PreparedClient })
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<TransactionConnection> {
    return new TransactionConnection((await this.#pool.connect()) as pg.PoolClient & PreparedClient)
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
  readonly #client: pg.PoolClient & PreparedClient
  /** Statements that were not awaited. These promises never reject. */
  readonly #unwaited: Promise<{ readonly error: unknown } | undefined>[] = []
  /**
   * Whether statements are held back. Those that are not awaited leave together with the next one, in one system call.
   */
  #isHeld = false
  readonly #stream: Duplex
  readonly #limit: NodeJS.Timeout
  #isBroken = false

  constructor(client: pg.PoolClient & PreparedClient) {
    this.#client = client
    this.#stream = privateStream(client)
    this.#limit = setTimeout(() => client.cutOff(), TRANSACTION_MS)
    this.#limit.unref()
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (query === noTimeLimit) {
      clearTimeout(this.#limit)
      this.#client.liftSilenceLimit()
    }
    if (deferred.has(query)) {
      this.#hold()
      this.#unwaited.push(
        run(this.#client, query).then(
          () => undefined,
          (error) => ({ error }),
        ),
      )
      return { rows: [] }
    }
    const answer = run<Row>(this.#client, query)
    this.#send()
    return answer.catch(async (error) => {
      await this.#throwFirstFailure()
      throw error
    })
  }

  async commit(): Promise<void> {
    const answer = this.#client.query('commit')
    this.#send()
    const { command } = await answer.catch((error) => this.#throwCommitFailure(error))
    if (command !== 'ROLLBACK') return
    // The server ends a transaction in this way if one of its statements has failed.
    await this.#throwFirstFailure()
    throw new Error('A statement of the transaction failed, so that nothing of it was kept')
  }

  /**
   * Throws the error of a failed COMMIT. An ERROR from the server proves that nothing was saved, and a COMMIT that was
   * not sent saves nothing. After any other error (a lost connection, the server's shutdown) the outcome is unknown.
   */
  #throwCommitFailure(error: unknown): never {
    const { severity, message } = error as { severity?: string; message?: string }
    if (severity === 'ERROR') throw error
    this.#isBroken = true
    // pg gives no other sign of a statement that it did not send. Without this check the error counts as unknown, which
    // is correct but less precise.
    throw /not queryable/.test(message ?? '') ? error : new CommitUnknown(error)
  }

  async rollback(): Promise<void> {
    // A broken connection can send nothing, and the known error is more useful than another one.
    if (this.#isBroken) return
    try {
      const answer = this.#client.query('rollback')
      this.#send()
      await answer
    } catch {
      // A connection in an unknown state must not reach the next transaction. When it closes, the server saves nothing
      // of this one.
      this.#isBroken = true
    }
  }

  /** Throws the first failure. After it, the server refuses every statement, with less useful errors. */
  async #throwFirstFailure(): Promise<void> {
    for (const failure of await Promise.all(this.#unwaited)) if (failure) throw failure.error
  }

  #hold(): void {
    if (!this.#isHeld) this.#stream.cork()
    this.#isHeld = true
  }

  #send(): void {
    if (this.#isHeld) this.#stream.uncork()
    this.#isHeld = false
  }

  release(): void {
    clearTimeout(this.#limit)
    this.#client.limitSilence()
    this.#send()
    this.#client.release(this.#isBroken)
  }

  // biome-ignore lint/correctness/useYield: Kysely's interface; nothing here streams
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('PostgreSQL rows are not streamed')
  }
}

/**
 * A statement whose last run was faster than this may be sent before the answers to others arrive. Any other gets its
 * own connection.
 */
const QUICK_MS = 5
/** How many statements are sent ahead on one connection before another one is used. */
const MOST_AHEAD = 8

/** Shares a few connections among all readers. Each statement is independent. */
class ReadDriver implements Driver, DatabaseConnection {
  readonly #config: pg.ClientConfig
  readonly #lines = new Set<Line>()
  /** The texts of quick statements. */
  readonly #quick = new LRUCache<string, true>({ max: 1000 })
  readonly #closing: NodeJS.Timeout
  #isClosed = false

  constructor(config: pg.ClientConfig) {
    this.#config = config
    this.#closing = setInterval(() => this.#closeIdle(), IDLE_MS)
    this.#closing.unref()
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this
  }

  async releaseConnection(): Promise<void> {}

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#isClosed) throw new Error('The database is closed')
    const isQuick = this.#quick.has(query.sql)
    const ask = () => ((isQuick && this.#movingLine()) || this.#idleLine()).run<Row>(query, isQuick)
    const { result, tookMs } = await ask().catch((error) => {
      if (isOutdatedPlan(error)) return ask()
      throw error
    })
    if (tookMs <= QUICK_MS !== isQuick) {
      if (isQuick) this.#quick.delete(query.sql)
      else this.#quick.set(query.sql, true)
    }
    return result
  }

  async destroy(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#closing)
    await Promise.all([...this.#lines].map((line) => line.close()))
  }

  /**
   * Returns a connection that a quick statement may join. It is the first with capacity, so that as few as possible are
   * in use.
   */
  #movingLine(): Line | undefined {
    const now = performance.now()
    for (const line of this.#lines)
      if (!line.isTaken && line.ahead < MOST_AHEAD && (line.ahead === 0 || now - line.movedAt <= QUICK_MS)) return line
    return undefined
  }

  #idleLine(): Line {
    for (const line of this.#lines) if (line.ahead === 0) return line
    if (this.#lines.size < MOST_READERS) return this.#newLine()
    return [...this.#lines].reduce((shortest, line) => (line.ahead < shortest.ahead ? line : shortest))
  }

  #newLine(): Line {
    const line: Line = new Line(this.#config, () => this.#lines.delete(line))
    this.#lines.add(line)
    return line
  }

  #closeIdle(): void {
    for (const line of this.#lines) {
      if (line.ahead > 0 || performance.now() - line.movedAt < IDLE_MS) continue
      this.#lines.delete(line)
      void line.close()
    }
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

/** One connection, with the statements that wait for their answers on it. */
class Line {
  /** The number of statements sent and not yet answered. */
  ahead = 0
  /** When it last became busy or returned an answer, by `performance.now()`. */
  movedAt = 0
  /** Whether a statement that may take long has it exclusively. */
  isTaken = false
  readonly #client: PreparedClient
  readonly #connected: Promise<unknown>
  #isConnected = false

  constructor(config: pg.ClientConfig, onEnd: () => void) {
    this.#client = new PreparedClient(config)
    // Statements that wait for an answer fail. The next statement opens another connection.
    this.#client.on('error', onEnd)
    this.#client.on('end', onEnd)
    this.#connected = this.#client.connect().then(
      () => {
        this.#isConnected = true
      },
      (error: unknown) => {
        onEnd()
        throw error
      },
    )
    this.#connected.catch(() => {})
  }

  /** @returns the result and the server's time, without that of the statements ahead */
  async run<Row>(query: CompiledQuery, isQuick: boolean): Promise<{ result: QueryResult<Row>; tookMs: number }> {
    if (this.ahead++ === 0) this.movedAt = performance.now()
    if (!isQuick) this.isTaken = true
    try {
      if (!this.#isConnected) await this.#connected
      const sentAt = performance.now()
      const result = await run<Row>(this.#client, query)
      return { result, tookMs: performance.now() - Math.max(sentAt, this.movedAt) }
    } finally {
      if (--this.ahead === 0) this.isTaken = false
      this.movedAt = performance.now()
    }
  }

  async close(): Promise<void> {
    // A failed connection needs no close.
    await this.#connected.then(() => this.#client.end()).catch(() => {})
  }
}

async function run<Row>(client: pg.ClientBase, query: CompiledQuery): Promise<QueryResult<Row>> {
  const { rows, rowCount, command } = await client.query(query.sql, query.parameters as unknown[])
  const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE'
  return isChange ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
}
