import { statfs } from 'node:fs/promises'
import { DiskFull } from '../site-directories/disk-space.ts'
import { type DiskUsage, measureTree } from '../site-files/disk-usage.ts'
import type { DiskQuota } from '../site-files/disk-watch.ts'

const MB = 1 << 20
/** What a file or folder takes at least. */
const ENTRY_BYTES = 4096
/** What the site has is measured again after so long, and so many times what that took. */
const PACE = { leastMs: 30_000, times: 20 }
/** The same when there is no room: what somebody deletes must count soon. */
const FULL_PACE = { leastMs: 2000, times: 20 }
/** The disk is asked again after so much. */
const ASK_AFTER_BYTES = 4 * MB

export interface WriteRoomOptions {
  readonly siteDirectory: string
  /** Undefined: anything. */
  readonly quota: () => Promise<DiskQuota | undefined>
  /** What stays free for what matters more. */
  readonly keepFreeBytes: number
  readonly measure?: (siteDirectory: string) => Promise<DiskUsage>
}

/** The room that a site has for what comes by SFTP, counted for all its connections together. */
export class WriteRoom {
  readonly #options: WriteRoomOptions
  #usage: DiskUsage | undefined
  #quota: DiskQuota | undefined
  /** Since it was measured. */
  #bytes = 0
  #entries = 0
  #unasked = Number.POSITIVE_INFINITY
  #measuredAt = Number.NEGATIVE_INFINITY
  #tookMs = 0
  #measuring: Promise<void> | undefined

  constructor(options: WriteRoomOptions) {
    this.#options = options
  }

  /** For so much more, before it is written. @throws DiskFull with a sentence for the user */
  async take(bytes: number, entries = 0): Promise<void> {
    const wanted = bytes + entries * ENTRY_BYTES
    if (this.#isDue(PACE)) await this.#measureOnce()
    if (this.#fault(wanted, entries) && this.#isDue(FULL_PACE)) await this.#measureOnce()
    const fault = this.#fault(wanted, entries)
    if (fault) throw new DiskFull(fault)
    // before anything is awaited: several write at once
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
    // the next one asks again
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
    // what is written meanwhile may not have been seen
    this.#bytes -= bytes
    this.#entries -= entries
    this.#measuredAt = performance.now()
    this.#tookMs = this.#measuredAt - begun
  }
}
