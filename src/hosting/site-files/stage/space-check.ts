import { statfsSync } from 'node:fs'
import { DiskFull } from '../../site-directories/disk-space.ts'
import type { DiskUsage } from '../disk-usage.ts'
import type { DiskQuota } from '../disk-watch.ts'

const MB = 1 << 20
/** The disk is asked again after so much, or so many files. */
const ASK_AFTER_BYTES = 4 * MB
const ASK_AFTER_ENTRIES = 256
const FEW_INODES = 1000

export interface SpaceCheckOptions {
  /** On the disk that counts. */
  readonly folder: string
  /** What stays free for what matters more. */
  readonly keepFreeBytes: number
  /** What the site may have; undefined: anything. */
  readonly quota: DiskQuota | undefined
  /** What it has. */
  readonly usage: DiskUsage
}

/**
 * The room for what is laid beside a site. The disk must have it now; the quota is for what the site has in the end, when what was
 * replaced is gone: else no site that is more than half full could be restored.
 */
export class SpaceCheck {
  readonly #options: SpaceCheckOptions
  #bytes = 0
  #entries = 0
  #unaskedBytes = Number.POSITIVE_INFINITY
  #unaskedEntries = 0

  constructor(options: SpaceCheckOptions) {
    this.#options = options
  }

  /** So far. */
  get takenBytes(): number {
    return this.#bytes
  }

  /** @throws DiskFull */
  take(bytes: number): void {
    this.#bytes += bytes
    this.#unaskedBytes += bytes
    if (this.#unaskedBytes >= ASK_AFTER_BYTES) this.#ask(bytes)
    // whatever goes: this much stays
    this.#checkQuota(this.#bytes, this.#entries)
  }

  /** A file, folder or link. @throws DiskFull */
  takeEntry(): void {
    this.#entries++
    this.#unaskedEntries++
    if (this.#unaskedEntries >= ASK_AFTER_ENTRIES) this.#ask(0)
    this.#checkQuota(this.#bytes, this.#entries)
  }

  /** With all that there is, and what goes. @throws DiskFull */
  checkEnd({ bytes, files }: DiskUsage): void {
    const { usage } = this.#options
    this.#checkQuota(usage.bytes + this.#bytes - bytes, usage.files + this.#entries - files)
  }

  #ask(bytes: number): void {
    const { folder, keepFreeBytes } = this.#options
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    this.#unaskedBytes = 0
    this.#unaskedEntries = 0
    const freeBytes = bavail * bsize - keepFreeBytes
    // file systems without a table of inodes say that they have none
    if (freeBytes < bytes + ASK_AFTER_BYTES || (files > 0 && ffree < FEW_INODES))
      throw new DiskFull(`The disk of the host is full: ${mb(Math.max(0, freeBytes))} MB are free for this site`)
  }

  #checkQuota(bytes: number, entries: number): void {
    const { quota, usage } = this.#options
    if (!quota) return
    // a site that has too much may become no larger
    if (bytes > Math.max(quota.bytes, usage.bytes))
      throw new DiskFull(`The site would take ${mb(bytes)} MB of disk space, and may have ${mb(quota.bytes)} MB`)
    if (entries > Math.max(quota.files, usage.files))
      throw new DiskFull(`The site would have ${entries} files and folders, and may have ${quota.files}`)
  }
}

const mb = (bytes: number): string => Math.ceil(bytes / MB).toLocaleString('en')
