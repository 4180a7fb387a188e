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
import { openPool } from './pool.ts'
import { LIFT_LIMITS, TRANSACTION_MS } from './postgres-client.ts'
import { isOutdatedPlan, PreparedClient } from './prepared-client.ts'

/** bigint and count(*) arrive as text otherwise; ids and milliseconds stay far below 2^53. */
pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Connections of a process at most; a server has 100 unless told otherwise, and several processes share them. */
const MOST_TRANSACTIONS = 10
const MOST_READERS = 6
/** A connection for reads that nobody used for so long is closed; those of transactions close by themselves. */
const IDLE_MS = 10_000

/**
 * Kysely over PostgreSQL with statements sent ahead of the answers to earlier ones (pipelining): the wait for each answer, and
 * the system calls around it, cost a program more than the statements cost the server.
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
 * Marks a statement whose answer nobody needs: on PostgreSQL the transaction goes on without waiting for it. Should it fail, the
 * next statement that is waited for, or the commit, fails with its error.
 */
export function withoutWaiting<Row>(query: CompiledQuery<Row>): CompiledQuery<Row> {
  deferred.add(query)
  return query
}

/** First in a transaction that may take longer than the time limits allow. */
export const noTimeLimit = CompiledQuery.raw(LIFT_LIMITS)

/**
 * What a connection writes its statements to: pg's own, and not documented. Should a test of it fail with a new pg, look where that
 * keeps its stream now; if nowhere, take out `#hold` and `#send`: statements then leave one by one, which costs time and is right.
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
  /** Statements that nobody waited for; they never reject. */
  readonly #unwaited: Promise<{ readonly error: unknown } | undefined>[] = []
  /** Statements that nobody waits for leave together with the next one: one system call for all. */
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
    // the server ends a transaction like this when a statement of it has failed
    await this.#throwFirstFailure()
    throw new Error('A statement of the transaction failed, so that nothing of it was kept')
  }

  /**
   * An ERROR is the server's word that nothing was kept, and a COMMIT that could not be sent keeps nothing. Anything else (a lost
   * connection, the server's own end) says nothing about that.
   */
  #throwCommitFailure(error: unknown): never {
    const { severity, message } = error as { severity?: string; message?: string }
    if (severity === 'ERROR') throw error
    this.#isBroken = true
    // pg has no other sign of a statement that it did not send. Without it an error counts as unknown, which is right and says less
    throw /not queryable/.test(message ?? '') ? error : new CommitUnknown(error)
  }

  async rollback(): Promise<void> {
    // nothing can be sent any more, and the error that is known says more than another one
    if (this.#isBroken) return
    try {
      const answer = this.#client.query('rollback')
      this.#send()
      await answer
    } catch {
      // a connection in an unknown state must not reach the next transaction; without it the server keeps nothing of this one
      this.#isBroken = true
    }
  }

  /** The server refuses whatever follows a failure; the failure itself says more. */
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

/** A statement that took no longer the last time may be sent ahead of the answers to others; any other has a connection for itself. */
const QUICK_MS = 5
/** So many are sent ahead on one connection before another one is used. */
const MOST_AHEAD = 8

/** Shares few connections among all readers. Each statement stands alone. */
class ReadDriver implements Driver, DatabaseConnection {
  readonly #config: pg.ClientConfig
  readonly #lines = new Set<Line>()
  /** Texts of quick statements. */
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

  /** One that a quick statement may join: the first with room, so that as few as possible are in use. */
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

/** One connection with the statements that wait for their answers on it. */
class Line {
  /** Statements sent and not yet answered. */
  ahead = 0
  /** When it last became busy or gave an answer, by the clock of `performance.now()`. */
  movedAt = 0
  /** A statement that may take long has it for itself. */
  isTaken = false
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
        this.#isConnected = true
      },
      (error: unknown) => {
        onEnd()
        throw error
      },
    )
    this.#connected.catch(() => {})
  }

  /** @returns how long the server took as well, without the statements that were ahead */
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
    // a failed connection has nothing to close
    await this.#connected.then(() => this.#client.end()).catch(() => {})
  }
}

async function run<Row>(client: pg.ClientBase, query: CompiledQuery): Promise<QueryResult<Row>> {
  const { rows, rowCount, command } = await client.query(query.sql, query.parameters as unknown[])
  const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE'
  return isChange ? { rows, numAffectedRows: BigInt(rowCount ?? 0) } : { rows }
}
