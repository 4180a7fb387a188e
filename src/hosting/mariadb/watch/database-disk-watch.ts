import { LRUCache } from 'lru-cache'
import type { Connection } from 'mysql2/promise'
import type { FreeRoom } from '../../../platform/files/free-room.ts'
import type { Log } from '../../../platform/log/log.ts'
import { compactTables } from '../content/compact-tables.ts'
import { Repeat } from '../content/repeat.ts'
import { directoryOfName } from '../database-names.ts'
import { rowsOf } from '../server/connect.ts'
import { asAdministrator } from '../server/database-server.ts'
import type { SiteDatabases } from '../site-databases.ts'
import { type RightsLevel, reducedAccounts } from '../site-rights.ts'
import { BACK_BELOW, levelOfDisk, levelOfSpace, worse } from './database-quota.ts'
import { endConnection, type SiteSession, siteSessions } from './site-sessions.ts'

const MB = 1 << 20
/** How often free disk space is checked, which takes microseconds. */
const TICK_MS = 100
/** How often databases are measured, at least, and how many times the length of the last measurement must pass. */
const PACE = {
  usual: { leastMs: 30_000, times: 100 },
  // Deletions must count within seconds.
  refused: { leastMs: 2000, times: 20 },
  // Free space drops, so someone is writing.
  sudden: { leastMs: 0, times: 4 },
} as const
const SUDDEN_BYTES = 16 * MB
/**
 * Stead subtracts in advance what the disk would lose in this time, because running statements continue until they are
 * ended.
 */
const AHEAD_MS = 500
/** On a full disk, a statement that runs longer than this is likely to be filling it with temporary files. */
const RUNS_SECONDS = 2
const COMPACT_EVERY_MS = 60_000
const QUOTA_KEPT_MS = 10_000

export interface DatabaseDiskWatchOptions {
  readonly databases: SiteDatabases
  /** Free space on the data's disk. Undefined when it is not on this machine. */
  readonly room?: FreeRoom | undefined
  /** Returns the quota of a site directory's site, for files and database together. Undefined without a quota. */
  readonly quotaOf: (directory: number) => Promise<number | undefined>
  /** Returns the size of a site directory's files, as far as known. */
  readonly filesOf: (directory: number) => number
  /** Called when a site may no longer add to its database. May be called at any rate. */
  readonly onRefusal: (directory: number, why: 'quota' | 'disk') => void
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly tickMs?: number
  readonly compactEveryMs?: number
}

interface Look {
  readonly disk: RightsLevel
  readonly sessions: readonly SiteSession[]
}

/**
 * Watches the size of sites' databases. A server has no quota per database, and ends when the disk is full during a
 * rollback. The account of a site therefore loses its rights to add data before that, and keeps those to read and
 * delete.
 */
export class DatabaseDiskWatch {
  readonly #options: DatabaseDiskWatchOptions
  readonly #repeat: Repeat
  readonly #quotas = new LRUCache<number, { readonly bytes: number | undefined }>({ max: 10_000, ttl: QUOTA_KEPT_MS })
  readonly #compactedAt = new Map<number, number>()
  #sizes: ReadonlyMap<number, number> = new Map()
  #disk: RightsLevel = 'all'
  #knowsLevels = false
  #measuredAt = Number.NEGATIVE_INFINITY
  #tookMs = 0
  #freeThen = Number.POSITIVE_INFINITY
  #last: { readonly freeBytes: number; readonly at: number } | undefined
  #compacting: Promise<void> = Promise.resolve()

  constructor(options: DatabaseDiskWatchOptions) {
    this.#options = options
    const { databases, log, tickMs = TICK_MS } = options
    const failed = (error: Error) => {
      if (databases.server.isUp) log.warn({ err: error }, 'could not measure the databases of sites')
    }
    this.#repeat = new Repeat(
      () => this.look().catch(failed),
      () => tickMs,
    )
  }

  start(): void {
    this.#repeat.start()
  }

  async stop(): Promise<void> {
    await this.#repeat.stop()
    await this.#compacting
  }

  /** Returns the size of a site directory's database, as of the last measurement. */
  bytesOf(directory: number): number {
    return this.#sizes.get(directory) ?? 0
  }

  /** The rights that free disk space leaves to all sites. */
  get diskLevel(): RightsLevel {
    return this.#disk
  }

  /** Measures the databases when that is due, or `now`, and updates the rights of their sites. */
  async look({ now = false } = {}): Promise<void> {
    const { databases } = this.#options
    const before = this.#disk
    this.#disk = this.#levelOfDisk(before)
    const isDue = now || this.#disk !== before || this.#isDue()
    if (!databases.server.isUp || !isDue) return
    const begun = performance.now()
    try {
      await asAdministrator(databases.server, (connection) => this.#measure(connection))
    } catch (error) {
      this.#disk = before
      throw error
    } finally {
      this.#measuredAt = performance.now()
      this.#tookMs = this.#measuredAt - begun
    }
  }

  #levelOfDisk(before: RightsLevel): RightsLevel {
    const { room } = this.#options
    if (!room) return 'all'
    const [freeBytes, at] = [room.ask(), performance.now()]
    const lostBytes = Math.max(0, (this.#last?.freeBytes ?? freeBytes) - freeBytes)
    const ahead = lostBytes * (AHEAD_MS / Math.max(1, at - (this.#last?.at ?? 0)))
    this.#last = { freeBytes, at }
    return levelOfDisk((bytes) => room.stateAt(bytes), Math.max(0, freeBytes - ahead), before)
  }

  #isDue(): boolean {
    const free = this.#last?.freeBytes ?? 0
    const isSudden = this.#freeThen - free >= SUDDEN_BYTES
    const isRefused = this.#options.databases.reduced.length > 0
    const { leastMs, times } = PACE[isSudden ? 'sudden' : isRefused ? 'refused' : 'usual']
    return performance.now() - this.#measuredAt >= Math.max(leastMs, times * this.#tookMs)
  }

  async #measure(connection: Connection): Promise<void> {
    const { databases } = this.#options
    if (!this.#knowsLevels) databases.knowLevels(await reducedAccounts(connection, databases.prefix))
    this.#knowsLevels = true
    this.#freeThen = this.#last?.freeBytes ?? Number.POSITIVE_INFINITY
    this.#sizes = await sizesOf(connection, databases.prefix)
    const sessions = await siteSessions(connection, databases.prefix)
    const connected = new Set(sessions.map(({ directory }) => directory))
    const siteDirectories = [...this.#sizes.keys()]
    // Connected sites first, because they can write at this moment.
    const inTurn = [
      ...siteDirectories.filter((directory) => connected.has(directory)),
      ...siteDirectories.filter((directory) => !connected.has(directory)),
    ]
    const look = { disk: this.#disk, sessions }
    for (const directory of inTurn)
      await this.#fit(connection, directory, look).catch((error) =>
        this.#options.log.warn({ err: error, directory }, 'could not change the rights of a site on its database'),
      )
    if (this.#disk === 'least')
      for (const { id, isIdle, seconds } of sessions)
        if (!isIdle && seconds >= RUNS_SECONDS) await endConnection(connection, id)
  }

  async #fit(connection: Connection, directory: number, { disk, sessions }: Look): Promise<void> {
    const { databases, onRefusal, log, filesOf } = this.#options
    const user = `${databases.prefix}h${directory}`
    const now = databases.levelOf(user)
    const quotaBytes = await this.#quotaOf(directory)
    const usedBytes = this.bytesOf(directory) + filesOf(directory)
    const own = quotaBytes === undefined ? 'all' : levelOfSpace({ usedBytes, quotaBytes }, now)
    const level = worse(own, disk)
    if (own !== 'all') this.#compact(directory, usedBytes - BACK_BELOW * (quotaBytes ?? 0))
    if (level === now) return
    await databases.setLevel(connection, user, level)
    const isLess = worse(level, now) === level
    log.info(
      { directory, usedBytes, quotaBytes, level },
      isLess ? "a site's database is now read-only" : "a site's database is writable again",
    )
    const concerns = own !== 'all' || sessions.some((session) => session.directory === directory)
    if (isLess && concerns) onRefusal(directory, own === 'all' ? 'disk' : 'quota')
  }

  async #quotaOf(directory: number): Promise<number | undefined> {
    const known = this.#quotas.get(directory) ?? { bytes: await this.#options.quotaOf(directory) }
    this.#quotas.set(directory, known, { noUpdateTTL: true })
    return known.bytes
  }

  /**
   * Rebuilds tables of a site whose deleted rows still take space that it needs. One site at a time, after the
   * measurements.
   */
  #compact(directory: number, wantedBytes: number): void {
    const { databases, log, room, compactEveryMs = COMPACT_EVERY_MS } = this.#options
    const at = performance.now()
    if (at - (this.#compactedAt.get(directory) ?? Number.NEGATIVE_INFINITY) < compactEveryMs) return
    this.#compactedAt.set(directory, at)
    this.#compacting = this.#compacting
      .then(() =>
        compactTables(databases, {
          directory,
          wantedBytes,
          hasRoomFor: (bytes) => !room || room.stateAt(room.ask() - bytes) === 'ok',
        }),
      )
      .catch((error) => log.warn({ err: error, directory }, 'could not rebuild tables of a site over its quota'))
  }
}

/**
 * Returns the bytes that each site's own database takes on the disk, by number of its site directory. A database
 * without tables takes none.
 */
async function sizesOf(connection: Connection, prefix: string): Promise<Map<number, number>> {
  const pattern = prefix.replaceAll('_', '\\_')
  const databases = await rowsOf(
    connection,
    'SELECT SCHEMA_NAME, 0 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE ?',
    [`${pattern}%`],
  )
  const files = await rowsOf(
    connection,
    "SELECT SUBSTRING_INDEX(NAME, '/', 1), SUM(ALLOCATED_SIZE) FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME LIKE ? GROUP BY 1",
    [`${pattern}%/%`],
  )
  const sizes = new Map<number, number>()
  for (const [name = '', bytes] of [...databases, ...files]) {
    const directory = directoryOfName(prefix, name)
    if (directory !== undefined) sizes.set(directory, Number(bytes))
  }
  return sizes
}
