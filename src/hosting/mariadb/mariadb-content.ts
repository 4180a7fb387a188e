import { statfs } from 'node:fs/promises'
import type { Connection } from 'mysql2/promise'
import { DiskFull } from '../homes/disk-room.ts'
import type { PhpPool } from '../php/pool.ts'
import { differenceOfLoaded } from '../site-database/compare-dumps.ts'
import type {
  DatabaseContent,
  DatabaseSnapshot,
  DumpOptions,
  Loaded,
  LoadOptions,
  SiteHome,
} from '../site-database/database-content.ts'
import { SiteUnavailable } from '../site-database/site-database.ts'
import { beyondInWords } from '../site-database/sql/beyond.ts'
import { errorOf, rowsOf } from './connect.ts'
import { asAdministrator } from './database-server.ts'
import { beginMoment, dumpMoment, type Moment } from './dump.ts'
import { copyTables, loadDump } from './load.ts'
import type { SiteNames } from './names.ts'
import type { SiteDatabases } from './site-databases.ts'
import { dropDatabase, finishCutOff, isCutOff, makeAnew, setMark, stateOf, switchBack, switchIn } from './switching.ts'

export interface MariaDbContentOptions {
  readonly databases: SiteDatabases
  readonly pool: Pick<PhpPool, 'between'>
  /** Of the disk, what sites are kept from: a new database leaves it. Default: none. */
  readonly keepFreeBytes?: number
}

/** Databases of sites on a server of MariaDB. What is done to a site's tables is done as an account that has no others. */
export function createMariaDbContent(options: MariaDbContentOptions): DatabaseContent {
  const { databases, pool } = options
  const { server } = databases
  const withoutPhp = <Result>(home: SiteHome, work: () => Promise<Result>): Promise<Result> =>
    pool.between(home.siteId, work, { endsProcess: true })

  type Work = (connection: Connection, names: SiteNames) => Promise<void>
  /** As administrator, while nobody of the site is in. */
  const alone = (home: SiteHome, work: Work): Promise<void> =>
    withoutPhp(home, () =>
      asAdministrator(server, async (connection) => {
        await databases.keepOut(connection, home)
        await work(connection, databases.namesOf(home))
        // not when it failed: WordPress would make half a database into a new site
        await databases.letIn(connection, home)
      }),
    )
  const ask = <Result>(home: SiteHome, work: (connection: Connection, names: SiteNames) => Promise<Result>) =>
    asAdministrator(server, (connection) => work(connection, databases.namesOf(home)))
  /** Who died before the site was let in again has left nothing else to do. */
  const letIn = (home: SiteHome) => ask(home, (connection) => databases.letIn(connection, home))
  const finish = async (home: SiteHome) => {
    if (await ask(home, isCutOff)) await alone(home, finishCutOff)
  }

  return {
    size: (home) => ask(home, (connection, { current }) => bytesOf(connection, current)),
    snapshot: (home) => snapshot(options, home),
    state: (home) => ask(home, stateOf),
    async load(home, sql, asked) {
      asked?.signal?.throwIfAborted()
      await finish(home)
      return load(options, home, sql, asked ?? {})
    },
    tryOut: (home, sql, asked) => tryOut(options, home, sql, asked),
    async switch(home) {
      if (!(await ask(home, stateOf)).hasNext) return letIn(home)
      await alone(home, async (connection, names) => {
        await finishCutOff(connection, names)
        await switchIn(connection, names)
      })
    },
    async switchBack(home) {
      const isToDo = (await ask(home, isCutOff)) || (await ask(home, stateOf)).hasPrevious
      if (!isToDo) return letIn(home)
      await alone(home, switchBack)
    },
    async settle(home) {
      await finish(home)
      await ask(home, async (connection, { next, previous }) => {
        for (const database of [next, previous]) await dropDatabase(connection, database)
      })
      await letIn(home)
    },
    drop: (home) => withoutPhp(home, () => databases.drop(home)),
  }
}

/** Bytes on the disk; what a server elsewhere says of its tables. */
async function bytesOf(connection: Connection, database: string): Promise<number> {
  const [row] = await rowsOf(
    connection,
    'SELECT COALESCE(SUM(FILE_SIZE), 0) FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE ?',
    [`${database.replaceAll('_', '\\_')}/%`],
  )
  return Number(row?.[0] ?? 0)
}

async function snapshot({ databases, pool }: MariaDbContentOptions, home: SiteHome): Promise<DatabaseSnapshot> {
  const { current } = databases.namesOf(home)
  const connection = await databases.server.connect(await databases.worker(home))
  const close = async () => connection.destroy()
  try {
    const taken = await pool.between(home.siteId, async () => {
      const isHalf = await asAdministrator(databases.server, (asking) => isCutOff(asking, databases.namesOf(home)))
      if (isHalf) throw new SiteUnavailable("The site's database is half switched")
      const takenAt = Date.now()
      return { takenAt, moment: await beginMoment(connection, current) }
    })
    if (taken.moment.tables.length === 0) throw new SiteUnavailable(`The site's database is empty`)
    const estimatedBytes = await asAdministrator(databases.server, (asking) => bytesOf(asking, current))
    const warning = beyondInWords(taken.moment.tables.map(({ definition }) => definition))
    const { takenAt, moment } = taken
    return { takenAt, estimatedBytes, ...(warning && { warning }), dump: (asked = {}) => dump(moment, asked), close }
  } catch (error) {
    await close()
    throw unavailable(error)
  }
}

async function* dump(moment: Moment, { tables, signal }: DumpOptions): AsyncGenerator<Uint8Array, void, void> {
  signal?.throwIfAborted()
  const stop = () => moment.connection.destroy()
  signal?.addEventListener('abort', stop, { once: true })
  let isWhole = false
  try {
    yield* dumpMoment(moment, tables)
    isWhole = true
  } catch (error) {
    signal?.throwIfAborted()
    throw unavailable(error)
  } finally {
    signal?.removeEventListener('abort', stop)
    // rows that nobody wants would have to be read to their end
    if (!isWhole) moment.connection.destroy()
  }
}

/** What the server says of a site's tables is for the site's owner. */
function unavailable(error: unknown): unknown {
  if (error instanceof SiteUnavailable) return error
  return new SiteUnavailable(`The site's database cannot be read: ${errorOf(error).message}`, { cause: error })
}

async function load(
  { databases, pool, keepFreeBytes = 0 }: MariaDbContentOptions,
  home: SiteHome,
  sql: AsyncIterable<Uint8Array>,
  asked: LoadOptions,
): Promise<Loaded> {
  const { current, next } = databases.namesOf(home)
  const { server } = databases
  const checkRoom = () => roomIn(server.dataFolder, keepFreeBytes)
  await checkRoom()
  await asAdministrator(server, (connection) => makeAnew(connection, next))
  const connection = await server.connect(await databases.worker(home))
  try {
    if (asked.tables || asked.keepsOthers) await pool.between(home.siteId, () => copyTables(connection, current, next))
    const loaded = await loadDump({ connection, database: next, checkRoom }, sql, asked)
    await asAdministrator(server, (marking) => setMark(marking, next, 'complete'))
    return loaded
  } catch (error) {
    connection.destroy()
    // what is left of it counts as not there, and goes with the next
    await asAdministrator(server, (dropping) => dropDatabase(dropping, next)).catch(() => {})
    throw error
  } finally {
    connection.destroy()
  }
}

async function tryOut(
  { databases, keepFreeBytes = 0 }: MariaDbContentOptions,
  home: SiteHome,
  sql: AsyncIterable<Uint8Array>,
  asked: { readonly signal?: AbortSignal } = {},
): Promise<string | undefined> {
  const { server } = databases
  const { scratch } = databases.namesOf(home)
  const checkRoom = () => roomIn(server.dataFolder, keepFreeBytes)
  await checkRoom()
  await asAdministrator(server, (connection) => makeAnew(connection, scratch))
  const connection = await server.connect(await databases.worker(home))
  try {
    return await differenceOfLoaded(
      sql,
      (text) => loadDump({ connection, database: scratch, checkRoom }, text, asked),
      async function* () {
        yield* dump(await beginMoment(connection, scratch), asked)
      },
    )
  } finally {
    connection.destroy()
    await asAdministrator(server, (dropping) => dropDatabase(dropping, scratch))
  }
}

/** @throws DiskFull */
async function roomIn(folder: string | undefined, keepFreeBytes: number): Promise<void> {
  if (folder === undefined) return
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize <= keepFreeBytes) throw new DiskFull('The disk of the host is full')
}
