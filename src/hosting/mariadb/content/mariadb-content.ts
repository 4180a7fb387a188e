import type { Connection } from 'mysql2/promise'
import type { PhpPool } from '../../php/pool/pool.ts'
import type {
  DatabaseContent,
  DatabaseSnapshot,
  DumpOptions,
  Loaded,
  LoadOptions,
  SitePlace,
} from '../../site-database/database-content.ts'
import type { DatabaseChange, DatabaseSums, DatabaseTotals } from '../../site-database/database-sums.ts'
import { SiteUnavailable } from '../../site-database/site-database.ts'
import type { SiteNames } from '../database-names.ts'
import { errorOf, rowsOf } from '../server/connect.ts'
import { asAdministrator } from '../server/database-server.ts'
import { checkServerRoom } from '../server/server-room.ts'
import type { SiteDatabases } from '../site-databases.ts'
import { type Begun, closeDatabaseThread, type DatabaseThread, openDatabaseThread } from './database-thread.ts'
import { dropDatabase, finishCutOff, isCutOff, makeAnew, setMark, stateOf, switchBack, switchIn } from './switching.ts'

export interface MariaDbContentOptions {
  readonly databases: SiteDatabases
  readonly pool: Pick<PhpPool, 'between'>
  /** Disk space that sites may not use, and that a new database must leave free. Default: none. */
  readonly keepFreeBytes?: number
}

/**
 * Creates access to the databases of sites on a MariaDB server. Changes to a site's tables run as an account without
 * access to other sites.
 */
export function createMariaDbContent(options: MariaDbContentOptions): DatabaseContent {
  const { databases, pool } = options
  const { server } = databases
  const withoutPhp = <Result>(directory: SitePlace, work: () => Promise<Result>): Promise<Result> =>
    pool.between(directory.siteId, work, { endsProcess: true })

  type Work = (connection: Connection, names: SiteNames) => Promise<void>
  /** Runs work as administrator while the site is locked out. */
  const alone = (directory: SitePlace, work: Work): Promise<void> =>
    withoutPhp(directory, () =>
      asAdministrator(server, async (connection) => {
        await databases.keepOut(connection, directory)
        await work(connection, databases.namesOf(directory))
        // Not after a failure: WordPress would turn half a database into a new site.
        await databases.letIn(connection, directory)
      }),
    )
  const ask = <Result>(directory: SitePlace, work: (connection: Connection, names: SiteNames) => Promise<Result>) =>
    asAdministrator(server, (connection) => work(connection, databases.namesOf(directory)))
  /** Unlocks the site. Nothing else is left to do if the host died right before that. */
  const letIn = (directory: SitePlace) => ask(directory, (connection) => databases.letIn(connection, directory))
  const finish = async (directory: SitePlace) => {
    if (await ask(directory, isCutOff)) await alone(directory, finishCutOff)
  }

  return {
    size: (directory) => ask(directory, (connection, { current }) => bytesOf(connection, current)),
    snapshot: (directory) => snapshot(options, directory),
    state: (directory) => ask(directory, stateOf),
    async load(directory, sql, asked) {
      asked?.signal?.throwIfAborted()
      await finish(directory)
      return load(options, directory, sql, asked ?? {})
    },
    tryOut: (directory, sql, asked) => tryOut(options, directory, sql, asked),
    async switch(directory) {
      if (!(await ask(directory, stateOf)).hasNext) return letIn(directory)
      await alone(directory, async (connection, names) => {
        await finishCutOff(connection, names)
        await switchIn(connection, names)
      })
    },
    async switchBack(directory) {
      const isToDo = (await ask(directory, isCutOff)) || (await ask(directory, stateOf)).hasPrevious
      if (!isToDo) return letIn(directory)
      await alone(directory, switchBack)
    },
    totals: (directory) => totals(options, directory),
    bringLevel: (directory, sql, change, asked) => bringLevel(options, directory, sql, change, asked),
    async cleanUp(directory) {
      await finish(directory)
      await ask(directory, async (connection, { next, previous }) => {
        for (const database of [next, previous]) await dropDatabase(connection, database)
      })
      await letIn(directory)
    },
    drop: (directory) => withoutPhp(directory, () => databases.drop(directory)),
  }
}

/** Returns the bytes on the disk, or what a server on another machine reports for its tables. */
async function bytesOf(connection: Connection, database: string): Promise<number> {
  const [row] = await rowsOf(
    connection,
    'SELECT COALESCE(SUM(FILE_SIZE), 0) FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE ?',
    [`${database.replaceAll('_', '\\_')}/%`],
  )
  return Number(row?.[0] ?? 0)
}

async function snapshot({ databases, pool }: MariaDbContentOptions, directory: SitePlace): Promise<DatabaseSnapshot> {
  const { current } = databases.namesOf(directory)
  const thread = await openDatabaseThread(databases.server, await databases.worker(directory))
  try {
    const taken = await pool.between(directory.siteId, async () => {
      const isHalf = await asAdministrator(databases.server, (asking) => isCutOff(asking, databases.namesOf(directory)))
      if (isHalf) throw new SiteUnavailable("The site's database is half switched")
      const takenAt = Date.now()
      return { takenAt, begun: await thread.do<Begun>({ do: 'begin', database: current }) }
    })
    const { takenAt, begun } = taken
    if (begun.tables === 0) throw new SiteUnavailable(`The site's database is empty`)
    const estimatedBytes = await asAdministrator(databases.server, (asking) => bytesOf(asking, current))
    return {
      ...{ takenAt, estimatedBytes },
      ...(begun.warning && { warning: begun.warning }),
      dump: (asked = {}) => dump(thread, asked),
      sums: async (like) => (await thread.do<DatabaseSums | null>({ do: 'sums', ...(like && { like }) })) ?? undefined,
      close: () => closeDatabaseThread(thread),
    }
  } catch (error) {
    thread.end()
    throw unavailable(error)
  }
}

async function* dump(
  thread: DatabaseThread,
  { tables, parts, signal }: DumpOptions,
): AsyncGenerator<Uint8Array, void, void> {
  signal?.throwIfAborted()
  const stop = () => thread.end(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    yield* thread.take({ do: 'dump', ...(tables && { tables }), ...(parts && { parts }) })
  } catch (error) {
    signal?.throwIfAborted()
    throw unavailable(error)
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** Turns the server's errors about a site's tables into errors for the site's owner. */
function unavailable(error: unknown): unknown {
  if (error instanceof SiteUnavailable) return error
  return new SiteUnavailable(`The site's database cannot be read: ${errorOf(error).message}`, { cause: error })
}

async function load(
  { databases, pool, keepFreeBytes = 0 }: MariaDbContentOptions,
  directory: SitePlace,
  sql: AsyncIterable<Uint8Array>,
  { tables, changes, foreign, keepsOthers, signal, onProgress }: LoadOptions,
): Promise<Loaded> {
  const { current, next } = databases.namesOf(directory)
  const { server } = databases
  const room = { folder: server.dataFolder, keepFreeBytes }
  await checkServerRoom(room)
  await asAdministrator(server, (connection) => makeAnew(connection, next))
  const thread = await openDatabaseThread(server, await databases.worker(directory), signal)
  try {
    if (tables || keepsOthers)
      await pool.between(directory.siteId, () => thread.do({ do: 'copyTables', from: current, to: next }))
    const loaded = await thread.do<Loaded>(
      {
        ...{ do: 'load', database: next, room },
        ...(tables && { tables }),
        ...(changes && { changes }),
        ...(foreign && { foreign }),
      },
      { input: sql, ...(onProgress && { onRead: onProgress }) },
    )
    await asAdministrator(server, (marking) => setMark(marking, next, 'complete'))
    return loaded
  } catch (error) {
    thread.end()
    // Incomplete content counts as absent, and the next load removes it.
    await asAdministrator(server, (dropping) => dropDatabase(dropping, next)).catch(() => {})
    throw error
  } finally {
    await closeDatabaseThread(thread)
  }
}

/** Runs work on a thread with a connection to the site's database. */
async function withThread<Result>(
  databases: SiteDatabases,
  directory: SitePlace,
  work: (thread: DatabaseThread) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const thread = await openDatabaseThread(databases.server, await databases.worker(directory), signal)
  try {
    return await work(thread)
  } finally {
    await closeDatabaseThread(thread)
  }
}

async function totals({ databases }: MariaDbContentOptions, directory: SitePlace): Promise<DatabaseTotals | undefined> {
  const { current } = databases.namesOf(directory)
  return withThread(
    databases,
    directory,
    async (thread) => (await thread.do<DatabaseTotals | null>({ do: 'totals', database: current })) ?? undefined,
  )
}

async function bringLevel(
  { databases, keepFreeBytes = 0 }: MariaDbContentOptions,
  directory: SitePlace,
  sql: AsyncIterable<Uint8Array>,
  change: DatabaseChange,
  { signal, onProgress }: Pick<LoadOptions, 'signal' | 'onProgress'> = {},
): Promise<void> {
  const { current } = databases.namesOf(directory)
  const room = { folder: databases.server.dataFolder, keepFreeBytes }
  const reading = { input: sql, ...(onProgress && { onRead: onProgress }) }
  const level = (thread: DatabaseThread) => thread.do<void>({ do: 'level', database: current, room, change }, reading)
  await withThread(databases, directory, level, signal)
}

async function tryOut(
  { databases, keepFreeBytes = 0 }: MariaDbContentOptions,
  directory: SitePlace,
  sql: AsyncIterable<Uint8Array>,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<string | undefined> {
  const { server } = databases
  const { scratch } = databases.namesOf(directory)
  const room = { folder: server.dataFolder, keepFreeBytes }
  await checkServerRoom(room)
  await asAdministrator(server, (connection) => makeAnew(connection, scratch))
  const load = (thread: DatabaseThread) =>
    thread.do<string | undefined>({ do: 'tryOut', database: scratch, room }, { input: sql })
  try {
    return await withThread(databases, directory, load, signal)
  } finally {
    await asAdministrator(server, (dropping) => dropDatabase(dropping, scratch))
  }
}
