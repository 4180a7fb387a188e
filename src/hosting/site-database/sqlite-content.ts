import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { lstat, readdir, rename, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { PhpPool } from '../php/pool/pool.ts'
import { type Abilities, findAbilities } from '../php/wasm/containment.ts'
import { asDiskFull, DiskFull } from '../site-directories/disk-space.ts'
import { removeTree } from '../site-files/remove-tree.ts'
import type { LoadResult } from './child/orders.ts'
import { ChildFailed, type ContainedChild, startContained } from './contained.ts'
import {
  type DatabaseContent,
  type DatabaseSnapshot,
  type DumpOptions,
  DumpUnreadable,
  type Loaded,
  type LoadOptions,
  type SitePlace,
} from './database-content.ts'
import { differenceOfLoaded } from './dumps/compare-dumps.ts'
import { sumUpApart } from './dumps/sum-up-apart.ts'
import { SiteUnavailable } from './site-database.ts'
import { foundIn } from './sql/dump-facts.ts'
import { sqliteDatabase } from './sqlite.ts'
import { SqliteFiles } from './sqlite-files.ts'
import { DATABASE_NAME } from './sqlite-place.ts'

export interface SqliteContentOptions {
  readonly pool: Pick<PhpPool, 'between'>
  readonly sandbox: 'auto' | 'bubblewrap' | 'none'
  /**
   * The disk space reserved from sites: a new database leaves all of it free, a copy for a backup half of it. Default:
   * none.
   */
  readonly keepFreeBytes?: number
  /** The processor time for reading a small database, for tests. */
  readonly mostCpuSeconds?: number
}

/** The limit of the text's size relative to its database. A child that writes more is broken, or hostile. */
const MOST_TEXT_TIMES = 40
const SPARE_TEXT_BYTES = 64 << 20
const MOST_RESULT_BYTES = 4096
/**
 * The processor time for a child that reads a database, and the addition for each MB: over twenty times what it takes.
 */
const READING_CPU_SECONDS = 600
const CPU_SECONDS_EACH_MB = 4
/** The processor time for a child that creates a database. The length of the text is known only at its end. */
const MAKING_CPU_SECONDS = 14_400
const SNAPSHOT = 'snapshot-'
const LOADING = 'loading'

/** Creates the content of SQLite files. Contained children do everything that opens one. This process never does. */
export function createSqliteContent(options: SqliteContentOptions): DatabaseContent {
  let found: Promise<Abilities> | undefined
  const abilities = () => (found ??= findAbilities(options.sandbox))
  const { keepFreeBytes = 0, mostCpuSeconds = READING_CPU_SECONDS } = options
  /** The folders of snapshots in use. Others were left behind. */
  const open = new Set<string>()
  const withoutPhp = <Result>(directory: SitePlace, work: () => Promise<Result>): Promise<Result> =>
    options.pool.between(directory.siteId, work, { endsProcess: true })

  const snapshot = async (directory: SitePlace): Promise<DatabaseSnapshot> => {
    const files = new SqliteFiles(directory)
    await removeLeft(files.folder, open)
    const name = SNAPSHOT + randomBytes(8).toString('hex')
    const folder = join(files.folder, name)
    open.add(folder)
    const close = async () => {
      open.delete(folder)
      await removeTree(folder)
    }
    try {
      await files.makeFolder(name)
      const taken = await options.pool.between(directory.siteId, async () => {
        const fault = sqliteDatabase.inspect(directory.siteDirectory)
        if (fault) throw new SiteUnavailable(`The site's database cannot be read: ${fault}`)
        const takenAt = Date.now()
        const bytes = files.bytes()
        // A site that fills the disk up to the sites' limit must not stop the backups of all sites.
        await roomIn(folder, keepFreeBytes / 2, bytes)
        await files.copyTo(folder, DATABASE_NAME)
        return { takenAt, bytes }
      })
      const bounds = boundsOf(taken.bytes, mostCpuSeconds)
      return {
        takenAt: taken.takenAt,
        estimatedBytes: taken.bytes,
        dump: (asked = {}) => dump(abilities, { folder, uid: directory.uid }, asked, bounds),
        close,
      }
    } catch (error) {
      await close()
      throw asDiskFull(error)
    }
  }

  return {
    size: async (directory) => new SqliteFiles(directory).bytes(),
    snapshot,
    async tryOut(directory, sql, asked = {}) {
      const files = new SqliteFiles(directory)
      await removeLeft(files.folder, open)
      const name = SNAPSHOT + randomBytes(8).toString('hex')
      const folder = join(files.folder, name)
      open.add(folder)
      try {
        await files.makeFolder(name)
        const place = { folder, uid: directory.uid }
        const mostBytes = await roomIn(folder, keepFreeBytes)
        const loadInto = async (text: AsyncIterable<Uint8Array>) =>
          load(await abilities(), place, text, { ...asked, mostBytes })
        const dumpOfLoaded = async function* () {
          await rename(join(folder, 'next.sqlite'), join(folder, DATABASE_NAME))
          const { size } = await lstat(join(folder, DATABASE_NAME))
          yield* dump(abilities, place, asked, boundsOf(size, mostCpuSeconds))
        }
        return await differenceOfLoaded(sql, loadInto, dumpOfLoaded, sumUpApart)
      } finally {
        open.delete(folder)
        await removeTree(folder)
      }
    },
    state: (directory) => new SqliteFiles(directory).state(),
    async load(directory, sql, asked = {}) {
      const files = new SqliteFiles(directory)
      const folder = await files.makeFolder(LOADING)
      try {
        if (asked.tables || asked.keepsOthers)
          await options.pool.between(directory.siteId, () => files.copyTo(folder, 'next.sqlite'))
        const mostBytes = await roomIn(folder, keepFreeBytes)
        const result = await load(await abilities(), { folder, uid: directory.uid }, sql, { ...asked, mostBytes })
        await files.takeNext(folder, 'next.sqlite')
        return result
      } finally {
        await removeTree(folder)
      }
    },
    async switch(directory) {
      const files = new SqliteFiles(directory)
      if (!(await files.state()).hasNext) return
      await withoutPhp(directory, async () => {
        await playBackJournal(await abilities(), directory, files)
        await files.switch()
      })
    },
    async switchBack(directory) {
      const files = new SqliteFiles(directory)
      if (!(await files.state()).hasPrevious) return
      await withoutPhp(directory, () => files.switchBack())
    },
    totals: async () => undefined,
    async bringLevel() {
      throw new Error('Parts of an SQLite database cannot be replaced')
    },
    cleanUp: (directory) => new SqliteFiles(directory).cleanUp(),
    drop: (directory) => withoutPhp(directory, () => new SqliteFiles(directory).drop()),
  }
}

/** Returns the limits for reading a database of this size. */
const boundsOf = (bytes: number, mostCpuSeconds: number) => ({
  bytes: bytes * MOST_TEXT_TIMES + SPARE_TEXT_BYTES,
  cpuSeconds: mostCpuSeconds + (bytes / 2 ** 20) * CPU_SECONDS_EACH_MB,
})

/** Removes the leftover snapshots and loads of an ended process. */
async function removeLeft(folder: string, open: ReadonlySet<string>): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const name of names) {
    const path = join(folder, name)
    if (name.startsWith(SNAPSHOT) && !open.has(path)) await removeTree(path)
  }
}

/** Returns the bytes that may be written there. @throws DiskFull when they are fewer than needed */
async function roomIn(folder: string, keepFreeBytes: number, neededBytes = 0): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  const room = bavail * bsize - keepFreeBytes
  if (room <= neededBytes) throw new DiskFull('The disk of the host is full')
  return room
}

type Place = { readonly folder: string; readonly uid: number | null }

async function* dump(
  abilities: () => Promise<Abilities>,
  place: Place,
  { tables, signal }: DumpOptions,
  most: { readonly bytes: number; readonly cpuSeconds: number },
): AsyncGenerator<Uint8Array, void, void> {
  signal?.throwIfAborted()
  const child = await startContained(
    await abilities(),
    place,
    { kind: 'dump', tables: tables ?? null },
    most.cpuSeconds,
  )
  const stop = () => child.kill()
  signal?.addEventListener('abort', stop, { once: true })
  let bytes = 0
  try {
    child.input.end()
    for await (const piece of child.output as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > most.bytes) throw new ChildFailed('it is longer than it can be')
      child.alive()
      yield piece
      child.alive()
    }
    await child.ended
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof ChildFailed)) throw error
    const full = asDiskFull(error)
    if (full instanceof DiskFull) throw full
    throw new SiteUnavailable(`The site's database cannot be read: ${error.message}`, { cause: error })
  } finally {
    signal?.removeEventListener('abort', stop)
    child.kill()
  }
}

async function load(
  abilities: Abilities,
  place: Place,
  sql: AsyncIterable<Uint8Array>,
  { tables, changes = [], foreign, signal, onProgress, mostBytes }: LoadOptions & { readonly mostBytes: number },
): Promise<Loaded> {
  signal?.throwIfAborted()
  const asked = { kind: 'load', tables: tables ?? null, changes, foreign: foreign ?? null, mostBytes } as const
  const child = await startContained(abilities, place, asked, MAKING_CPU_SECONDS)
  const stop = () => child.kill()
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const result = resultOf(child)
    result.catch(() => {})
    await feed(child, sql, onProgress)
    const loaded = await result
    if ('unreadable' in loaded) throw new DumpUnreadable(`The dump cannot be loaded: ${loaded.unreadable}`)
    return loaded
  } catch (error) {
    signal?.throwIfAborted()
    throw asDiskFull(error)
  } finally {
    signal?.removeEventListener('abort', stop)
    child.kill()
    await child.ended.catch(() => {})
  }
}

/** Passes everything to the child, unless it has ended. Its result has the reason. */
async function feed(
  child: ContainedChild,
  sql: AsyncIterable<Uint8Array>,
  onProgress: (doneBytes: number) => void = () => {},
): Promise<void> {
  let isOver = false
  const over = child.ended.then(
    () => {},
    () => {},
  )
  void over.then(() => {
    isOver = true
  })
  let bytes = 0
  for await (const piece of sql) {
    if (isOver) return
    if (!child.input.write(piece)) await Promise.race([once(child.input, 'drain').catch(() => {}), over])
    child.alive()
    bytes += piece.length
    onProgress(bytes)
  }
  child.input.end()
}

async function resultOf(child: ContainedChild): Promise<LoadResult> {
  let text = ''
  for await (const piece of child.output as AsyncIterable<Buffer>) {
    text += piece.toString()
    if (text.length > MOST_RESULT_BYTES * 16) throw new ChildFailed('it says too much')
  }
  await child.ended
  const said = JSON.parse(text) as Record<string, unknown>
  if (said.unreadable !== undefined) return { unreadable: String(said.unreadable).slice(0, MOST_RESULT_BYTES) }
  const { warning, found } = said
  return {
    ...{ tables: Number(said.tables), rows: Number(said.rows) },
    ...(warning !== undefined && { warning: String(warning).slice(0, MOST_RESULT_BYTES) }),
    ...(found !== undefined && { found: foundIn(found) }),
  }
}

/**
 * Plays back the journal so that the file in use is complete without it. If that fails, the file is kept unchanged, and
 * the journal is lost with it.
 */
async function playBackJournal(abilities: Abilities, directory: SitePlace, files: SqliteFiles): Promise<void> {
  const { place } = files
  if (!files.hasJournal || !place || sqliteDatabase.inspect(directory.siteDirectory)) return
  const child = await startContained(
    abilities,
    { folder: place, uid: directory.uid },
    { kind: 'recover' },
    READING_CPU_SECONDS,
  )
  child.input.end()
  child.output.resume()
  await child.ended.catch(() => {})
}
