import { statfsSync } from 'node:fs'
import { DiskFull } from '../../site-directories/disk-space.ts'
import type { DiskUsage } from '../disk-usage.ts'
import type { DiskQuota } from '../disk-watch.ts'

const MB = 1 << 20
/** The free space of the disk is checked again after this many bytes or entries. */
const ASK_AFTER_BYTES = 4 * MB
const ASK_AFTER_ENTRIES = 256
const FEW_INODES = 1000

export interface SpaceCheckOptions {
  /** A folder on the disk to check. */
  readonly folder: string
  /** The space that stays free for more important use. */
  readonly keepFreeBytes: number
  /** The quota of the site, or undefined for no limit. */
  readonly quota: DiskQuota | undefined
  /** The current usage of the site. */
  readonly usage: DiskUsage
}

/**
 * Checks the room for files that are staged next to a site. The disk needs it now. The quota limits what the site has
 * in the end, without the replaced files: otherwise, no site that is more than half full could be restored.
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

  /** Returns the bytes taken so far. */
  get takenBytes(): number {
    return this.#bytes
  }

  /** @throws DiskFull */
  take(bytes: number): void {
    this.#bytes += bytes
    this.#unaskedBytes += bytes
    if (this.#unaskedBytes >= ASK_AFTER_BYTES) this.#ask(bytes)
    // Whatever is removed, this much stays.
    this.#checkQuota(this.#bytes, this.#entries)
  }

  /**
   * Takes room for a file, folder, or link.
   * @throws DiskFull
   */
  takeEntry(): void {
    this.#entries++
    this.#unaskedEntries++
    if (this.#unaskedEntries >= ASK_AFTER_ENTRIES) this.#ask(0)
    this.#checkQuota(this.#bytes, this.#entries)
  }

  /**
   * Checks the quota with the current usage, minus what is removed.
   * @throws DiskFull
   */
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
    // File systems without an inode table report 0 inodes.
    if (freeBytes < bytes + ASK_AFTER_BYTES || (files > 0 && ffree < FEW_INODES))
      throw new DiskFull(`The disk of the host is full: ${mb(Math.max(0, freeBytes))} MB are free for this site`)
  }

  #checkQuota(bytes: number, entries: number): void {
    const { quota, usage } = this.#options
    if (!quota) return
    // A site that is over its quota cannot grow further.
    if (bytes > Math.max(quota.bytes, usage.bytes))
      throw new DiskFull(`The site would take ${mb(bytes)} MB of disk space, and may have ${mb(quota.bytes)} MB`)
    if (entries > Math.max(quota.files, usage.files))
      throw new DiskFull(`The site would have ${entries} files and folders, and may have ${quota.files}`)
  }
}

const mb = (bytes: number): string => Math.ceil(bytes / MB).toLocaleString('en')
