import { chmodSync, closeSync, openSync } from 'node:fs'
import { CompiledQuery, DefaultQueryExecutor, type Dialect, Kysely, PostgresAdapter, sql } from 'kysely'
import { type ChangeFeed, postgresChanges, type Topic } from './changes.ts'
import { nodeSqliteDialect, openSqlite } from './node-sqlite.ts'
import { noTimeLimit, postgresDialect, withoutWaiting } from './postgres-dialect.ts'
import { isOutdatedPlan } from './prepared-client.ts'
import type { Schema } from './schema.ts'
import { sqliteChanges } from './sqlite-changes.ts'

/** The first parameter of store functions: a transaction, or the read connection if one statement is enough. */
export type Tx = Kysely<Schema>

export type DialectName = 'sqlite' | 'postgres'

/** Stead's database: one schema and one set of queries for SQLite and PostgreSQL. */
export interface Database {
  readonly dialect: DialectName
  /** For single read statements outside a transaction. Sees committed data, and never waits for a writer. */
  readonly read: Tx
  /**
   * Runs `work` in one transaction, which commits completely or not at all. On SQLite one transaction runs at a time.
   * On PostgreSQL they overlap at READ COMMITTED, so a rule over several rows needs {@link lockForUpdate} on the row
   * that represents it. `work` may run again after a deadlock, so it must affect only the database.
   * @throws CommitUnknown when the connection was lost between COMMIT and its answer; after any other error nothing was
   * saved
   */
  transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Runs `work` on a snapshot of the database. It may take long, because it blocks no one. Only reads. */
  atOneMoment<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>
  /** Reports commits of other processes and of this one. */
  readonly changes: ChangeFeed
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** The URL of PostgreSQL. Without it, `file` is opened with SQLite. */
  readonly url?: string | undefined
  readonly file: string
  /** See `NodeSqliteOptions`. No effect on PostgreSQL, which does not block the thread. */
  readonly mayLose?: boolean
  /** Whether to open PostgreSQL while its server is unreachable. Statements fail until it is back. */
  readonly mayBeAway?: boolean
}

/** Opens the database without migrating it: see `migrate`. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  return options.url ? openPostgres(options.url, options.mayBeAway) : openSqliteDatabase(options)
}

/**
 * Returns Kysely over a driver whose one connection all users share. To acquire and release it each time would cost as
 * much as a short read.
 */
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
  // Users of sites can traverse the folder. The log next to the file gets the file's mode.
  closeSync(openSync(file, 'a', 0o600))
  chmodSync(file, 0o600)
  const write = new Kysely<Schema>({ dialect: nodeSqliteDialect({ file, readOnly: false, mayLose }) })
  // The first writer creates the file and turns on the write-ahead log, before any reader opens it.
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
          // The first read takes the snapshot.
          await tx.executeQuery(CompiledQuery.raw('select count(*) from sqlite_schema'))
          return await work(tx)
        })
      } finally {
        // The transaction ends with the connection.
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

async function openPostgres(url: string, mayBeAway: boolean | undefined): Promise<Database> {
  const db = new Kysely<Schema>({ dialect: postgresDialect(url, 'transactions') })
  const read = await readerOver(postgresDialect(url, 'reads'))
  const changes = await postgresChanges(url, mayBeAway)
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
      // 40001 serialization_failure, 40P01 deadlock_detected: PostgreSQL asks to rerun the transaction. A CommitUnknown
      // has no code, because a transaction that may have been saved is never rerun.
      const code = (error as { code?: string }).code
      const isWorthAnother = code === '40001' || code === '40P01' || isOutdatedPlan(error)
      if (attempt === 5 || !isWorthAnother) throw error
    }
  }
}

/** Returns whether `tx` talks to PostgreSQL. */
export function isPostgres(tx: Tx): boolean {
  return tx.getExecutor().adapter instanceof PostgresAdapter
}

/**
 * Makes other transactions that lock the same row wait until this one ends. This guards rules such as "at most 20 sites
 * an account". SQLite has one writer at a time and needs no lock. In the meantime, rows that refer to the locked one
 * may be added (they need only its key). So the lock can come after inserts, and last no longer than necessary.
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
 * Lifts PostgreSQL's time limits in this transaction, for work that copies or migrates a whole database. Others wait
 * for its locks as long as it takes.
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

/** The topics that a transaction announces once at its end, however many of its steps announce them. */
const announced = new WeakMap<Tx, Set<Topic>>()

/** Work that runs once at the end of a transaction, for everything that its steps have named. */
export type EndWork = (tx: Tx, named: readonly (string | number)[]) => Promise<void>

/**
 * Names things that `work` handles right before the commit, for work that makes other transactions wait. On SQLite,
 * where they wait anyway, it runs at once.
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

/** Returns whether an error means that the database server is unreachable, starting or stopping. */
export function isUnreachable(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (code) return UNREACHABLE.test(code)
  return /^Connection terminated|^Client has encountered a connection error/.test(message ?? '')
}

/**
 * PostgreSQL's codes: 08xxx connection exceptions, 25P03 and 25P04 for a transaction that took too long and was closed,
 * 57P01 to 57P03 shutdown and start, 53300 too many connections. The rest are the system's codes. Linux answers EINVAL
 * where a route drops all packets (blackhole).
 */
const UNREACHABLE =
  /^(08...|25P0[34]|57P0[123]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EINVAL|ENOTFOUND|EAI_AGAIN)$/

/**
 * Returns whether an error means "not now". Either another holder blocks a resource for longer than the wait limit
 * (SQLite's BUSY and LOCKED; PostgreSQL's 55P03 lock_not_available, 57014 query_canceled). Or the disk fails (SQLite's
 * IOERR and CANTOPEN; PostgreSQL's 58030 io_error).
 */
export function isBusy(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  if (typeof errcode === 'number') return [5, 6, 10, 14].includes(errcode % 256)
  return code === '55P03' || code === '57014' || code === '58030' || code === 'EIO'
}

const SQLITE_FULL = 13

/**
 * Returns whether an error means that the disk is full (SQLite's FULL, PostgreSQL's 53100 disk_full, the system's own).
 */
export function isDiskFull(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  return errcode === SQLITE_FULL || code === '53100' || code === 'ENOSPC' || code === 'EDQUOT'
}

/**
 * Limits how long this transaction waits for another's row lock before it fails. Only for PostgreSQL, because SQLite
 * has one writer.
 */
export async function limitLockWait(tx: Tx, ms: number): Promise<void> {
  if (isPostgres(tx)) await tx.executeQuery(withoutWaiting(CompiledQuery.raw(`set local lock_timeout = ${ms}`)))
}

/** Returns whether {@link limitLockWait} ended a wait with this error. */
export const isLockTimeout = (error: unknown): boolean => (error as { code?: string }).code === '55P03'

/** Returns whether an error means that a row with this unique value exists. */
export function isUniqueViolation(error: unknown): boolean {
  const { code, errcode } = error as { code?: string; errcode?: number }
  // PostgreSQL 23505; SQLite's extended codes SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY
  return code === '23505' || errcode === 2067 || errcode === 1555
}
