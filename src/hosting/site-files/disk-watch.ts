/**
 * Watches from the host how much disk space sites take while their PHP runs.
 *
 * PHP counts for itself (`php/wasm/child/disk-quota.ts`), so that a full disk is refused at the very write. This class
 * does what PHP cannot: it measures the usage at the start, notices what others add or remove, and catches a process
 * that writes past its own count.
 */
import { statfs } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import type { Budget } from '../../platform/budgets/budget.ts'
import { PhpCrashed } from '../php/runtime.ts'
import type { DiskRoom } from '../php/wasm/frames.ts'
import { type DiskUsage, measureTree } from './disk-usage.ts'

const MB = 1 << 20
/** The space that the database may take beyond the quota, and how far the two ways of counting may differ. */
const DATABASE_BYTES = 32 * MB
const TOLERANCE_BYTES = 64 * MB
/** PHP starts with the last known usage if measuring its site directory takes longer. */
const START_WAIT_MS = 2000
const TICK_MS = 1000
/** If free space drops by this much between two checks of the disk, all site directories are measured. */
const SUDDEN_BYTES = 128 * MB

/** How often a site directory is measured: at least `leastMs` after the last measurement, and `times` its duration. */
const PACE = {
  usual: { leastMs: 30_000, times: 100 },
  // It has run nothing since, so only others can have added or removed files. Its next job triggers a measurement at
  // once.
  idle: { leastMs: 300_000, times: 100 },
  // It cannot write, so files that someone deletes must count within seconds.
  refused: { leastMs: 2000, times: 20 },
  sudden: { leastMs: 5000, times: 20 },
} as const

export interface DiskQuota {
  readonly bytes: number
  readonly files: number
}

/** The properties of a running PHP that its disk quota needs. */
export interface WritingProcess {
  readonly exited: Promise<unknown>
  readonly isBusy: boolean
  /** The number of jobs since its start. */
  readonly jobs: number
  onDiskRefusal: ((why: 'quota' | 'disk') => void) | undefined
  setDisk(room: DiskRoom): void
  kill(error: Error): void
}

export interface DiskWatchOptions {
  /** Returns undefined for a folder that belongs to no site and has no quota. */
  readonly quotaOf: (siteDirectory: string) => Promise<DiskQuota | undefined>
  /** A folder on the disk to watch. */
  readonly folder: string
  /** Sites cannot write while less than this is free. */
  readonly keepFreeBytes: number
  /** Called each time that a site could not write, with no limit on the rate. */
  readonly onRefusal: (siteDirectory: string, why: 'quota' | 'disk') => void
  readonly log: { warn(facts: object, message: string): void }
  readonly tickMs?: number
  /** Records how much each running site has. */
  readonly shown?: Budget
}

interface Watched {
  readonly process: WritingProcess
  /** The allowance that its own counting uses. */
  told: DiskRoom
  usage: DiskUsage | undefined
  measuredAt: number
  /** The number of jobs it had begun at the last measurement, if it was idle then. */
  idleSinceJob: number | undefined
  tookMs: number
  isRefused: boolean
}

export interface DiskStart {
  /** An allowance of nothing, which holds while PHP runs no job and the site directory is still being measured. */
  readonly none: DiskRoom
  /** The allowance that PHP needs before it runs a job. Resolves within two seconds, and never rejects. */
  readonly measured: Promise<DiskRoom>
  /** Whether an earlier process wrote past its counting. If so, this one cannot change anything. */
  readonly isReadOnly: boolean
}

export class DiskWatch {
  readonly #options: DiskWatchOptions
  readonly #watched = new Map<string, Watched>()
  readonly #overrun = new Set<string>()
  /** The last known usage of site directories, including those whose PHP has ended. */
  readonly #known = new LRUCache<string, number>({ max: 10_000 })
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #freeBytes: number | undefined
  #stopped = false

  constructor(options: DiskWatchOptions) {
    this.#options = options
  }

  /** Returns the last known usage of a site directory, or 0 if it was never measured. */
  bytesOf(siteDirectory: string): number {
    return this.#known.get(siteDirectory) ?? 0
  }

  /**
   * Returns the disk facts for a process that starts in a site directory. The process starts while the site directory
   * is measured.
   * @returns undefined for a folder without a quota
   */
  async beforeStart(siteDirectory: string): Promise<DiskStart | undefined> {
    const quota = await this.#options.quotaOf(siteDirectory)
    if (!quota) return undefined
    const measured = this.#measureForStart(siteDirectory, quota)
    // It may be below its quota again.
    if (this.#overrun.has(siteDirectory)) await measured
    const none = this.#room({ bytes: quota.bytes, files: quota.files }, quota)
    return { none, measured, isReadOnly: this.#overrun.has(siteDirectory) }
  }

  async #measureForStart(siteDirectory: string, quota: DiskQuota): Promise<DiskRoom> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, START_WAIT_MS, undefined).unref())
    const usage = await Promise.race([measureTree(siteDirectory, { isAwaited: true }).catch(() => undefined), late])
    if (usage) this.#known.set(siteDirectory, usage.bytes)
    // Assumes half the quota, so that PHP is neither stopped without reason nor unlimited. The first check corrects it.
    const known = usage ?? this.#watched.get(siteDirectory)?.usage ?? { bytes: quota.bytes / 2, files: quota.files / 2 }
    if (known.bytes <= quota.bytes) this.#overrun.delete(siteDirectory)
    return this.#room(known, quota)
  }

  /** Follows a process from its start to its end. */
  follow(siteDirectory: string, process: WritingProcess, told: DiskRoom): void {
    const watched: Watched = {
      process,
      told,
      usage: undefined,
      measuredAt: performance.now(),
      idleSinceJob: undefined,
      tookMs: 0,
      isRefused: false,
    }
    this.#watched.set(siteDirectory, watched)
    this.#show(siteDirectory, told.usedBytes)
    process.onDiskRefusal = (why) => {
      watched.isRefused = true
      this.#options.onRefusal(siteDirectory, why)
    }
    process.exited.then(() => {
      if (this.#watched.get(siteDirectory) !== watched) return
      this.#watched.delete(siteDirectory)
      this.#show(siteDirectory, 0)
    })
  }

  start(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#looking = this.look()
        .catch((error) => this.#options.log.warn({ err: error }, 'disk usage could not be watched'))
        .then(() => this.start())
    }, this.#options.tickMs ?? TICK_MS).unref()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
  }

  /** Measures the site directories that are due, one after the other, or all of them with `now`. */
  async look({ now = false } = {}): Promise<void> {
    const isSudden = await this.#fellSuddenly()
    for (const [siteDirectory, watched] of [...this.#watched]) {
      if (this.#stopped) return
      const { leastMs, times } = PACE[paceOf(watched, isSudden)]
      const ageMs = performance.now() - watched.measuredAt
      if (now || ageMs >= Math.max(leastMs, times * watched.tookMs)) await this.#measure(siteDirectory, watched)
    }
  }

  #show(siteDirectory: string, bytes: number): void {
    const { shown } = this.#options
    shown?.give(siteDirectory, shown.usedBy(siteDirectory))
    shown?.take(siteDirectory, Math.min(bytes, shown.terms.each))
  }

  async #fellSuddenly(): Promise<boolean> {
    const { bavail, bsize } = await statfs(this.#options.folder)
    const before = this.#freeBytes
    this.#freeBytes = bavail * bsize
    if (before !== undefined && before - this.#freeBytes >= SUDDEN_BYTES) return true
    // The disk is nearly full, so some site is filling it.
    return this.#freeBytes < 2 * this.#options.keepFreeBytes
  }

  async #measure(siteDirectory: string, watched: Watched): Promise<void> {
    const { process } = watched
    const { jobs, isBusy } = process
    const begun = performance.now()
    try {
      const usage = await measureTree(siteDirectory)
      const quota = await this.#options.quotaOf(siteDirectory)
      watched.usage = usage
      this.#known.set(siteDirectory, usage.bytes)
      this.#show(siteDirectory, usage.bytes)
      if (!quota) return
      this.#endIfOver(siteDirectory, watched, usage, quota)
      const room = this.#room(usage, quota)
      if (watched.isRefused && usage.bytes < 0.95 * quota.bytes) watched.isRefused = false
      // The measurement misses what PHP wrote in the meantime.
      if (isBusy || process.isBusy || process.jobs !== jobs) return
      watched.told = room
      process.setDisk(room)
    } catch (error) {
      this.#options.log.warn({ err: error }, 'could not measure a site')
    } finally {
      watched.measuredAt = performance.now()
      watched.idleSinceJob = isBusy ? undefined : jobs
      watched.tookMs = watched.measuredAt - begun
    }
  }

  /**
   * Ends a process that is far over its quota. Its own counting would have refused the writes, so it does not count.
   */
  #endIfOver(siteDirectory: string, { process, told }: Watched, usage: DiskUsage, quota: DiskQuota): void {
    if (usage.bytes <= Math.max(quota.bytes, told.usedBytes) + DATABASE_BYTES + TOLERANCE_BYTES) return
    this.#overrun.add(siteDirectory)
    const facts = { siteDirectory, usedBytes: usage.bytes, quotaBytes: quota.bytes }
    this.#options.log.warn(facts, 'a site wrote past its disk quota; its PHP is ended')
    process.kill(new PhpCrashed('the site wrote more than its disk quota allows'))
  }

  #room(usage: DiskUsage, quota: DiskQuota): DiskRoom {
    return {
      usedBytes: usage.bytes,
      usedFiles: usage.files,
      quotaBytes: quota.bytes,
      quotaFiles: quota.files,
      databaseBytes: Math.min(DATABASE_BYTES, quota.bytes / 4),
      keepFreeBytes: this.#options.keepFreeBytes,
    }
  }
}

function paceOf({ isRefused, idleSinceJob, process }: Watched, isSudden: boolean): keyof typeof PACE {
  if (isRefused) return 'refused'
  if (isSudden) return 'sudden'
  return process.jobs === idleSinceJob ? 'idle' : 'usual'
}
