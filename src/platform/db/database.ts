import { chmodSync, closeSync, openSync } from 'node:fs'
import { CompiledQuery, DefaultQueryExecutor, type Dialect, Kysely, PostgresAdapter, sql } from 'kysely'
import { type ChangeFeed, postgresChanges, type Topic } from './changes.ts'
import { nodeSqliteDialect, openSqlite } from './node-sqlite.ts'
import { noTimeLimit, postgresDialect, withoutWaiting } from './postgres-dialect.ts'
import { isOutdatedPlan } from './prepared-client.ts'
import type { Schema } from './schema.ts'
import { sqliteChanges } from './sqlite-changes.ts'

/** What store functions take first: a transaction, or the read connection where one statement is enough. */
export type Tx = Kysely<Schema>

export type DialectName = 'sqlite' | 'postgres'

/** The database of Stead: one schema and one set of queries over SQLite and PostgreSQL. */
export interface Database {
  readonly dialect: DialectName
  /** For single reading statements outside a transaction; sees what is committed, never waits for a writer. */
  readonly read: Tx
  /**
   * Runs `work` in one transaction: all of it or nothing. On SQLite one transaction runs at a time; on PostgreSQL they
   * overlap at READ COMMITTED, so that a rule over several rows needs {@link lockForUpdate} on the row that stands for it.
   * `work` may run again after a deadlock: it must have no effect but on the database.
   * @throws CommitUnknown when the connection was lost between COMMIT and its answer; after any other error nothing was kept
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Runs `work` on the database as it is at one moment; it may take long, and nobody waits for it. Only reads. */
  atOneMoment<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Tells what other processes (and this one) have committed. */
  readonly changes: ChangeFeed
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Of PostgreSQL; without it `file` is opened with SQLite. */
  readonly url?: string | undefined
  readonly file: string
  /** See `NodeSqliteOptions`. PostgreSQL does not stop the thread. */
  readonly mayLose?: boolean
}

/** Opens the database; migrations are apart, see `migrate`. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url ? openPostgres(options.url) : openSqliteDatabase(options)
}

/** Kysely over a driver whose one connection all users share: taking it and giving it back would cost as much as a short read. */
async function readerOver(dialect: Dialect): Promise<Kysely<Schema>> {
  const driver = dialect.createDriver()
  await driver.init()
  const connection = await driver.acquireConnection()
  const executor = new DefaultQueryExecutor(dialect.createQueryCompiler(), dialect.createAdapter(), {
    provideConnection: (use) => use(connection),
  })
  return new Kysely<Schema>({ config: { dialect }, driver, dialect, executor })
}

async function openSqliteDatabase({ file, mayLose = false }: DatabaseOptions): Promise<Database> {
  // sites' users pass through the folder; the log beside the file takes its mode
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const write = new Kysely<Schema>({ dialect: nodeSqliteDialect({ file, readOnly: false, mayLose }) })
  // the first writer makes the file and turns the write-ahead log on, before any reader opens it
  await write.executeQuery(CompiledQuery.raw('select 1'))
  const reading = openSqlite({ file, readOnly: true })
  const read = await readerOver(nodeSqliteDialect({ file, readOnly: true, opened: reading }))
  const changes = sqliteChanges(file, reading)
  return {
    dialect: 'sqlite',
    read,
    async transaction(work) {
      const topics = new Set<Topic>()
      try {
        return await write.transaction().execute((tx) => {
          announced.set(tx, topics)
          return work(tx)
        })
      } finally {
        changes.committed(topics)
      }
    },
    async atOneMoment(work) {
      const reader = new Kysely<Schema>({ dialect: nodeSqliteDialect({ file, readOnly: true }) })
      try {
        return await reader.connection().execute(async (tx) => {
          await tx.executeQuery(CompiledQuery.raw('begin'))
          // the moment is that of the first read
          await tx.executeQuery(CompiledQuery.raw('select count(*) from sqlite_schema'))
          return await work(tx)
        })
      } finally {
        // what was begun ends with the connection
        await reader.destroy()
      }
    },
    changes,
    async close() {
      changes.close()
      await read.destroy()
      await write.destroy()
    },
  }
}

async function openPostgres(url: string): Promise<Database> {
  const db = new Kysely<Schema>({ dialect: postgresDialect(url, 'transactions') })
  const read = await readerOver(postgresDialect(url, 'reads'))
  const changes = await postgresChanges(url)
  return {
    dialect: 'postgres',
    read,
    transaction: (work) => retried(() => db.transaction().execute((tx) => announcing(tx, work))),
    atOneMoment: (work) =>
      db.transaction().execute(async (tx) => {
        await tx.executeQuery(CompiledQuery.raw('set transaction isolation level repeatable read, read only'))
        await withoutTimeLimit(tx)
        return work(tx)
      }),
    changes,
    async close() {
      await changes.close()
      await read.destroy()
      await db.destroy()
    },
  }
}

async function retried<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run()
    } catch (error) {
      // 40001 serialization_failure, 40P01 deadlock_detected: PostgreSQL asks to run the transaction again
      // a CommitUnknown has no code: what may have been kept is never run again
      const code = (error as { code?: string }).code
      const isWorthAnother = code === '40001' || code === '40P01' || isOutdatedPlan(error)
      if (attempt === 5 || !isWorthAnother) throw error
    }
  }
}

/** True where `tx` talks to PostgreSQL. */
export function isPostgres(tx: Tx): boolean {
  return tx.getExecutor().adapter instanceof PostgresAdapter
}

/**
 * Makes other transactions that lock the same row wait until this one ends: the guard of rules such as "at most 20
 * sites an account". SQLite has one writer at a time and needs nothing. Rows that refer to the locked one may be added
 * meanwhile (they ask for its key only), so that the lock can come after inserts, and last no longer than it must.
 */
export async function lockForUpdate(
  tx: Tx,
  table: 'accounts' | 'sites' | 'hosts' | 'zones' | 'webhooks',
  id: number,
): Promise<void> {
  if (!isPostgres(tx)) return
  const query = sql`select 1 from ${sql.table(table)} where id = ${id} for no key update`
  await tx.executeQuery(withoutWaiting(query.compile(tx)))
}

/**
 * Lifts PostgreSQL's time limits in this transaction: for what copies or migrates a whole database. Others wait for its locks as
 * long as it takes.
 */
export async function withoutTimeLimit(tx: Tx): Promise<void> {
  if (isPostgres(tx)) await tx.executeQuery(noTimeLimit)
}

/** Announces a change to the other processes when the transaction commits. */
export async function announce(tx: Tx, topic: Topic): Promise<void> {
  const atEnd = announced.get(tx)
  if (atEnd) atEnd.add(topic)
  else if (isPostgres(tx)) await notify(tx, [topic])
}

/** What a transaction will announce: at its end, however many of its steps announce. */
const announced = new WeakMap<Tx, Set<Topic>>()

/** What is to be done once, at the end of a transaction, with everything that its steps have named. */
export type EndWork = (tx: Tx, named: readonly (string | number)[]) => Promise<void>

/**
 * Names things to be handled by `work` right before the commit: for what makes other transactions wait from then on. On SQLite, where
 * they wait anyway, it is done at once.
 */
export async function beforeCommit(tx: Tx, work: EndWork, named: readonly (string | number)[]): Promise<void> {
  const atEnd = endings.get(tx)
  if (!atEnd) return work(tx, named)
  const all = atEnd.get(work) ?? new Set()
  for (const each of named) all.add(each)
  atEnd.set(work, all)
}

const endings = new WeakMap<Tx, Map<EndWork, Set<string | number>>>()

async function announcing<Result>(tx: Tx, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  const topics = new Set<Topic>()
  const atEnd = new Map<EndWork, Set<string | number>>()
  announced.set(tx, topics)
  endings.set(tx, atEnd)
  const result = await work(tx)
  for (const [end, named] of atEnd) await end(tx, [...named])
  if (topics.size > 0) await notify(tx, [...topics])
  return result
}

async function notify(tx: Tx, topics: readonly Topic[]): Promise<void> {
  const query = sql`select pg_notify('stead', topic) from unnest(${topics}::text[]) as topic`
  await tx.executeQuery(withoutWaiting(query.compile(tx)))
}

/** True for an error that says: the database server cannot be reached, or is starting or stopping. */
export function isUnreachable(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (code) return UNREACHABLE.test(code)
  return /^Connection terminated|^Client has encountered a connection error/.test(message ?? '')
}

/**
 * PostgreSQL's 08xxx connection exceptions, 25P03 and 25P04 a transaction that took too long and was closed, 57P01 to 57P03
 * shutdown and start, 53300 too many connections; and the system's.
 */
const UNREACHABLE =
  /^(08...|25P0[34]|57P0[123]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/

/**
 * True for an error that says: not now. Somebody else holds what is needed for longer than anybody waits (SQLite's BUSY and LOCKED;
 * PostgreSQL's 55P03 lock_not_available, 57014 query_canceled), or the disk does not do what it is asked for (SQLite's IOERR and
 * CANTOPEN; PostgreSQL's 58030 io_error).
 */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  if (typeof errcode === 'number') return [5, 6, 10, 14].includes(errcode % 256)
  return code === '55P03' || code === '57014' || code === '58030' || code === 'EIO'
}

const SQLITE_FULL = 13

/** True for an error that says: there is no room on the disk (SQLite's FULL, PostgreSQL's 53100 disk_full, the system's own). */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return errcode === SQLITE_FULL || code === '53100' || code === 'ENOSPC' || code === 'EDQUOT'
}

/** In this transaction, waiting for somebody else's lock of a row ends with an error after a time (PostgreSQL; SQLite has one writer). */
export async function limitLockWait(tx: Tx, ms: number): Promise<void> {
  if (isPostgres(tx)) await tx.executeQuery(withoutWaiting(CompiledQuery.raw(`set local lock_timeout = ${ms}`)))
}

/** True for the error with which {@link limitLockWait} ends a wait. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

/** True for an error that says: a row with this unique value exists. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  // PostgreSQL 23505; SQLite's extended codes SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY
  return code === '23505' || errcode === 2067 || errcode === 1555
}
