import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from '../../platform/log/log.ts'
import type { PhpPool } from '../php/pool/pool.ts'
import type { PhpProcess, PhpVersion } from '../php/runtime.ts'
import { type DatabaseKind, embeddedKind } from '../site-database/database-kind.ts'
import type { SiteDirectories } from './site-directories.ts'
import type { SiteDirectory } from './site-directory.ts'
import { type Template, templateMarks } from './template.ts'
import { warmUp } from './warm-up.ts'

export interface SparesOptions {
  readonly siteDirectories: SiteDirectories
  readonly pool: PhpPool
  /** How many warm processes to keep. */
  readonly count: number
  readonly phpVersion: PhpVersion
  /** The kind of database of a site with this version. Default: SQLite. */
  readonly databaseKind?: DatabaseKind
  readonly log: Log
}

/**
 * How long a spare waits for sites that are being created or started. It is for sites that nobody has requested yet.
 */
const LOW_PRIORITY_MS = 15_000
const LOOK_EVERY_MS = 250

interface Spare {
  readonly directoryId: number
  /** Resolves to `undefined` when memory is short. */
  readonly started: Promise<PhpProcess | undefined>
  isWarm: boolean
}

/** Warm PHP processes in prepared site directories, for future sites. */
export class Spares {
  readonly #options: SparesOptions
  readonly #spares = new Map<number, Spare>()
  #refilling: Promise<void> | undefined
  readonly #closing = new AbortController()

  constructor(options: SparesOptions) {
    this.#options = options
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** How many warm processes are waiting. */
  get warm(): number {
    return [...this.#spares.values()].filter((spare) => spare.isWarm).length
  }

  /** Returns the site directories in which a warm process of this version waits, the longest waiting first. */
  directoryIds(phpVersion: PhpVersion): number[] {
    if (phpVersion !== this.#options.phpVersion) return []
    return [...this.#spares.values()].filter((spare) => spare.isWarm).map(({ directoryId }) => directoryId)
  }

  /**
   * Takes the process out of a site directory that a site has claimed. Afterwards, only the returned process runs
   * there.
   * @param phpVersion the required version; without one, the process is ended
   * @returns the warm process if it has that version; any other is ended
   */
  async take(directoryId: number, phpVersion?: PhpVersion): Promise<PhpProcess | undefined> {
    const spare = this.#spares.get(directoryId)
    this.#spares.delete(directoryId)
    // Includes one that is still starting, because two processes in one site directory would lose writes.
    const process = await spare?.started.catch(() => undefined)
    if (spare?.isWarm && phpVersion === this.#options.phpVersion) return process
    await process?.stop(0)
    return undefined
  }

  /** Warms processes one at a time, at the lowest priority, until there are enough. Concurrent calls share one run. */
  async refill(template: Template): Promise<void> {
    this.#refilling ??= this.#refill(template).finally(() => {
      this.#refilling = undefined
    })
    return this.#refilling
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#spares.keys()].map((directoryId) => this.take(directoryId)))
  }

  async #refill(template: Template): Promise<void> {
    while (!this.#isClosed && this.#spares.size < this.#options.count) {
      await this.#yieldWhileBusy()
      const { siteDirectories, databaseKind = embeddedKind } = this.#options
      const free = await siteDirectories.free({ ...template, database: databaseKind })
      const directory = free.find(({ id }) => !this.#spares.has(id))
      if (this.#isClosed || !directory || !(await this.#add(directory))) return
    }
  }

  /** Waits for pending requests. When many arrive at once, they would compete with spares that none of them gets. */
  async #yieldWhileBusy(): Promise<void> {
    const until = performance.now() + LOW_PRIORITY_MS
    while (!this.#isClosed && this.#options.pool.servesOperations() && performance.now() < until)
      await pause(LOOK_EVERY_MS)
  }

  async #add(directory: SiteDirectory): Promise<boolean> {
    const { siteDirectories, pool, phpVersion } = this.#options
    const site = siteDirectories.phpSite(directory, { phpVersion, address: templateMarks.address })
    const started = pool.startSpare(site, { signal: this.#closing.signal })
    const spare: Spare = { directoryId: directory.id, started, isWarm: false }
    this.#spares.set(directory.id, spare)
    try {
      const process = await started
      if (process) await this.#warm(spare, process)
    } catch (error) {
      if (this.#isClosed) return false
      this.#options.log.warn({ err: error, directory: directory.id }, 'could not start a warm spare')
      // A retry without a pause would fail the same way.
      await pause(1000)
    }
    if (!spare.isWarm && this.#spares.get(directory.id) === spare) await this.take(directory.id)
    return spare.isWarm
  }

  async #warm(spare: Spare, process: PhpProcess): Promise<void> {
    process.exited.then(() => {
      if (this.#spares.get(spare.directoryId) === spare) this.#spares.delete(spare.directoryId)
    })
    const isOurs = () => this.#spares.get(spare.directoryId) === spare
    // If the process was claimed meanwhile, it belongs to its new site.
    spare.isWarm = await warmUp(process, isOurs)
  }
}
