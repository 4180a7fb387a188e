import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Connection } from 'mysql2/promise'
import type { Log } from '../../../platform/log/log.ts'
import { Repeat } from '../content/repeat.ts'
import { asAdministrator, type DatabaseServer } from '../server/database-server.ts'
import { TEMPORARY_TABLES_FILE } from '../server/server-settings.ts'
import { temporaryFiles } from '../server/temporary-files.ts'
import { changingSessions, endConnection, type SiteSession, siteSessions } from './site-sessions.ts'

/** How often the memory of the server's process is read, which takes microseconds. */
const TICK_MS = 200
/** A session that is idle for longer may hold temporary tables. The server does not report which ones do. */
const IDLE_SECONDS = 10
/** How often the memory of each site is queried while the server is within its limit. */
const SESSIONS_EVERY_MS = 2000

export interface ResourceLimits {
  /** Limits for all sessions of a site, and for the whole server. */
  readonly siteMemoryBytes: number
  readonly memoryBytes: number
  /** Limits for the temporary files of one session, and of all. */
  readonly temporaryBytes: number
  readonly allTemporaryBytes: number
  /** Limit for the file with the temporary tables of all sessions. */
  readonly temporaryTablesBytes: number
}

export interface ResourceWatchOptions {
  readonly server: DatabaseServer
  readonly prefix: string
  readonly limits: ResourceLimits
  readonly log: Pick<Log, 'warn'>
  readonly tickMs?: number
}

/**
 * Ends sessions that take more memory or disk space for temporary files than the server can give. Sites share it, and
 * MariaDB limits neither the memory of session variables nor the files of sorts.
 */
export class ResourceWatch {
  readonly #options: ResourceWatchOptions
  readonly #repeat: Repeat
  #lookedAt = Number.NEGATIVE_INFINITY
  #tablesBytes = 0
  #ended = 0

  constructor(options: ResourceWatchOptions) {
    this.#options = options
    const { server, log, tickMs = TICK_MS } = options
    const failed = (error: Error) => {
      if (server.isUp) log.warn({ err: error }, 'could not check the memory of MariaDB')
    }
    this.#repeat = new Repeat(
      () => this.#tick().catch(failed),
      () => tickMs,
    )
  }

  start(): void {
    this.#repeat.start()
  }

  stop(): Promise<void> {
    return this.#repeat.stop()
  }

  /** How many sessions were ended. */
  get ended(): number {
    return this.#ended
  }

  async #tick(): Promise<void> {
    const { server, limits } = this.#options
    if (!server.isUp) return
    const isOver = (await residentBytes(server.pid)) > limits.memoryBytes
    const bytes = await this.#bytesOfTables()
    // The file never shrinks while the server runs, so only growth shows that someone takes more.
    const haveGrown = bytes > Math.max(this.#tablesBytes, limits.temporaryTablesBytes)
    this.#tablesBytes = bytes
    if (haveGrown) await this.#endForTables(bytes)
    if (isOver || performance.now() - this.#lookedAt >= SESSIONS_EVERY_MS) await this.look()
  }

  async look(): Promise<void> {
    await this.#end((_, sessions) => this.#tooMuch(sessions))
    this.#lookedAt = performance.now()
  }

  #endForTables(bytes: number): Promise<void> {
    return this.#end(async (connection, sessions) => overTables(sessions, await changingSessions(connection), bytes))
  }

  async #end(choose: (connection: Connection, sessions: readonly SiteSession[]) => Promise<Ending[]>): Promise<void> {
    const { server, prefix, log } = this.#options
    await asAdministrator(server, async (connection) => {
      for (const { session, why, bytes } of await choose(connection, await siteSessions(connection, prefix))) {
        await endConnection(connection, session.id)
        this.#ended++
        const facts = { directory: session.directory, bytes, seconds: session.seconds }
        log.warn(facts, `ended a database session of a site: ${why}`)
      }
    })
  }

  async #bytesOfTables(): Promise<number> {
    const { dataFolder } = this.#options.server
    if (dataFolder === undefined) return 0
    const file = await stat(join(dataFolder, TEMPORARY_TABLES_FILE)).catch(() => undefined)
    return file?.size ?? 0
  }

  async #tooMuch(sessions: readonly SiteSession[]): Promise<Ending[]> {
    const { server, limits } = this.#options
    const endings = overMemory(sessions, limits, await residentBytes(server.pid))
    if (server.temporaryFolder === undefined) return endings
    return [...endings, ...overTemporary(sessions, limits, await temporaryFiles(server.temporaryFolder, server.pid))]
  }
}

export interface Ending {
  readonly session: SiteSession
  readonly why: string
  readonly bytes: number
}

const memoryIn = (sessions: readonly SiteSession[]): number => sessions.reduce((sum, { bytes }) => sum + bytes, 0)

/** Returns the largest sessions, to end so that every site and the server are within their memory limits. */
export function overMemory(
  sessions: readonly SiteSession[],
  limits: Pick<ResourceLimits, 'siteMemoryBytes' | 'memoryBytes'>,
  residentBytes: number,
): Ending[] {
  const endings: Ending[] = []
  const bySize = sessions.toSorted((one, other) => other.bytes - one.bytes)
  const left = new Set(bySize)
  let excess = residentBytes - limits.memoryBytes
  for (const session of bySize) {
    const ofSite = [...left].filter(({ directory }) => directory === session.directory)
    if (memoryIn(ofSite) <= limits.siteMemoryBytes) continue
    endings.push({ session, bytes: session.bytes, why: 'its site uses too much memory of MariaDB' })
    left.delete(session)
    excess -= session.bytes
  }
  for (const session of left) {
    // A small session frees nothing that the server would notice.
    if (excess <= 0 || session.bytes < LEAST_WORTH_BYTES) break
    endings.push({
      session,
      bytes: session.bytes,
      why: 'MariaDB exceeds its memory limit, and this session uses most of it',
    })
    excess -= session.bytes
  }
  return endings
}

const LEAST_WORTH_BYTES = 4 << 20

/**
 * Returns the sessions to end for their temporary files. Sort files have no owner, so the longest-running statement is
 * blamed for them.
 */
export function overTemporary(
  sessions: readonly SiteSession[],
  limits: Pick<ResourceLimits, 'temporaryBytes' | 'allTemporaryBytes'>,
  files: { readonly bytes: number; readonly ofSession: ReadonlyMap<number, number> },
): Ending[] {
  const bytesOf = ({ id }: SiteSession) => files.ofSession.get(id) ?? 0
  const why = 'its temporary files use too much disk space'
  const endings = sessions
    .filter((session) => bytesOf(session) > limits.temporaryBytes)
    .map((session) => ({ session, bytes: bytesOf(session), why }))
  const freed = endings.reduce((sum, { bytes }) => sum + bytes, 0)
  if (files.bytes - freed <= limits.allTemporaryBytes) return endings
  const [next] = sessions
    .filter((session) => !session.isIdle && !endings.some((ending) => ending.session === session))
    .toSorted((one, other) => bytesOf(other) - bytesOf(one) || other.seconds - one.seconds)
  return next ? [...endings, { session: next, bytes: bytesOf(next), why }] : endings
}

/**
 * Returns the sessions to end when the temporary tables of all sites take too much: the one whose statement has changed
 * rows for longest, and those that keep tables while idle. InnoDB ends the whole server if that file is full during a
 * rollback.
 */
export function overTables(sessions: readonly SiteSession[], changing: ReadonlySet<number>, bytes: number): Ending[] {
  const [writer] = sessions
    .filter((session) => !session.isIdle && changing.has(session.id))
    .toSorted((one, other) => other.seconds - one.seconds)
  const idle = sessions.filter((session) => session.isIdle && session.seconds >= IDLE_SECONDS)
  const why = 'temporary tables use too much disk space'
  return [...(writer ? [writer] : []), ...idle].map((session) => ({ session, bytes, why }))
}

/** Returns the memory of a process, or 0 when it is not on this machine. */
async function residentBytes(pid: number | undefined): Promise<number> {
  if (pid === undefined) return 0
  const status = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => '')
  return Number(status.split(' ')[1] ?? 0) * PAGE_BYTES
}

const PAGE_BYTES = 4096
