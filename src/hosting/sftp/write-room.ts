import { statfs } from 'node:fs/promises'
import { DiskFull } from '../site-directories/disk-space.ts'
import { type DiskUsage, measureTree } from '../site-files/disk-usage.ts'
import type { DiskQuota } from '../site-files/disk-watch.ts'

const MB = 1 << 20
/** The least that a file or folder takes. */
const ENTRY_BYTES = 4096
/** Usage is measured again after this time, and at least this many times the length of the last measurement. */
const PACE = { leastMs: 30_000, times: 20 }
/** Used when space has run out, so that deletions count soon. */
const FULL_PACE = { leastMs: 2000, times: 20 }
/** Free disk space is checked again after this many bytes. */
const ASK_AFTER_BYTES = 4 * MB

export interface WriteRoomOptions {
  readonly siteDirectory: string
  /** Undefined without a limit. */
  readonly quota: () => Promise<DiskQuota | undefined>
  /** Disk space that must stay free for more important things. */
  readonly keepFreeBytes: number
  readonly measure?: (siteDirectory: string) => Promise<DiskUsage>
}

/** The space that a site has for SFTP uploads, counted across all its connections. */
export class WriteRoom {
  readonly #options: WriteRoomOptions
  #usage: DiskUsage | undefined
  #quota: DiskQuota | undefined
  /** Bytes since the last measurement. */
  #bytes = 0
  #entries = 0
  #unasked = Number.POSITIVE_INFINITY
  #measuredAt = Number.NEGATIVE_INFINITY
  #tookMs = 0
  #measuring: Promise<void> | undefined

  constructor(options: WriteRoomOptions) {
    this.#options = options
  }

  /** Reserves space before a write. @throws DiskFull with a sentence for the user */
  async take(bytes: number, entries = 0): Promise<void> {
    const wanted = bytes + entries * ENTRY_BYTES
    if (this.#isDue(PACE)) await this.#measureOnce()
    if (this.#fault(wanted, entries) && this.#isDue(FULL_PACE)) await this.#measureOnce()
    const fault = this.#fault(wanted, entries)
    if (fault) throw new DiskFull(fault)
    // Before any await, because several writes run concurrently.
    this.#bytes += wanted
    this.#entries += entries
    this.#unasked += wanted
    if (this.#unasked >= ASK_AFTER_BYTES) await this.#askDisk(wanted)
  }

  #fault(bytes: number, entries: number): string | undefined {
    if (!this.#usage || !this.#quota) return undefined
    if (this.#usage.bytes + this.#bytes + bytes > this.#quota.bytes)
      return `The site may take ${(this.#quota.bytes / MB).toLocaleString('en', { maximumFractionDigits: 0 })} MB of disk space, and has them`
    if (entries > 0 && this.#usage.files + this.#entries + entries > this.#quota.files)
      return `The site may have ${this.#quota.files.toLocaleString('en')} files and folders, and has them`
    return undefined
  }

  #isDue({ leastMs, times }: { leastMs: number; times: number }): boolean {
    return performance.now() - this.#measuredAt >= Math.max(leastMs, times * this.#tookMs)
  }

  async #askDisk(bytes: number): Promise<void> {
    this.#unasked = 0
    const { bavail, bsize } = await statfs(this.#options.siteDirectory)
    if (bavail * bsize - this.#options.keepFreeBytes >= bytes + ASK_AFTER_BYTES) return
    // The next write checks again.
    this.#unasked = Number.POSITIVE_INFINITY
    throw new DiskFull('The disk of the host is full')
  }

  #measureOnce(): Promise<void> {
    this.#measuring ??= this.#measure().finally(() => {
      this.#measuring = undefined
    })
    return this.#measuring
  }

  async #measure(): Promise<void> {
    const { siteDirectory, quota, measure = measureTree } = this.#options
    const begun = performance.now()
    const [bytes, entries] = [this.#bytes, this.#entries]
    this.#quota = await quota()
    if (this.#quota) this.#usage = await measure(siteDirectory)
    // The measurement may have missed what was written meanwhile.
    this.#bytes -= bytes
    this.#entries -= entries
    this.#measuredAt = performance.now()
    this.#tookMs = this.#measuredAt - begun
  }
}
