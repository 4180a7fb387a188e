import { join } from 'node:path'
import type { SourceEntry } from '../../backups/backup-store.ts'
import type { SitePlace } from '../site-database/database-content.ts'
import { asDiskFull } from '../site-directories/disk-space.ts'
import { flushingAlong } from '../site-directories/flushing-along.ts'
import { blocksOfTree, measureTree } from './disk-usage.ts'
import type { DiskQuota } from './disk-watch.ts'
import type { FileContent, PreparedFiles, PrepareOptions, WalkOptions, WantedEntry } from './file-content.ts'
import { ALL } from './scope.ts'
import type { Earlier } from './stage/earlier.ts'
import { Exchange } from './stage/exchange.ts'
import { FileComparison, FilePlan } from './stage/file-plan.ts'
import { type Changes, merge } from './stage/merge.ts'
import { contentOfOpenFile, FilesBelow } from './stage/pin.ts'
import { comparedFiles, forgetCompared, RememberedComparison } from './stage/remembered-comparison.ts'
import { SpaceCheck } from './stage/space-check.ts'
import { StagedWriter } from './stage/staged-writer.ts'
import { type CopyingOptions, copyApart } from './threads/copy-apart.ts'
import { TooManyFiles } from './tree-walk.ts'
import { walkTree } from './walk.ts'

export interface SiteFilesOptions {
  /** Returns undefined when the folder has no quota. */
  readonly quotaOf: (siteDirectory: string) => Promise<DiskQuota | undefined>
  /** Nothing is written while less of the disk is free. */
  readonly keepFreeBytes: number
  /**
   * Two changes of a file within this time may leave it with the same times. By default 2 s, for the coarsest file
   * systems.
   */
  readonly granularityMs?: number
  /** Walks web roots, by default in a thread. */
  readonly walk?: typeof walkTree
  /** Copies web roots, by default in a thread. */
  readonly copy?: typeof copyApart
}

const GRANULARITY_MS = 2000
/**
 * A disk that compresses takes less space for files than their length. More than this ratio means holes, or one file
 * with many names.
 */
const MOST_TIMES_AS_LONG = 4
/**
 * Smaller files do not trigger a measurement of the site, which takes 20 times as long as writing them. The ways of
 * counting differ by more.
 */
const SMALL_BYTES = 64 << 10

/** The files of a host's sites, on its disk. */
export class SiteFiles implements FileContent {
  readonly #options: SiteFilesOptions
  readonly #busy = new Set<string>()

  constructor(options: SiteFilesOptions) {
    this.#options = options
  }

  async size(directory: SitePlace): Promise<{ bytes: number; files: number }> {
    const sum = { bytes: 0, files: 0 }
    for await (const entry of this.#walk(directory)) {
      if (entry.kind !== 'folder') sum.files++
      if (entry.kind === 'file') sum.bytes += entry.sizeBytes
    }
    return sum
  }

  async checkRoom(directory: SitePlace, bytes: number): Promise<void> {
    const { keepFreeBytes } = this.#options
    const unmeasured = {
      folder: directory.siteDirectory,
      keepFreeBytes,
      quota: undefined,
      usage: { bytes: 0, files: 0 },
    }
    const room = bytes > SMALL_BYTES ? await this.#roomFor(directory) : new SpaceCheck(unmeasured)
    room.takeEntry()
    room.take(bytes)
    room.checkEnd({ bytes: 0, files: 0 })
  }

  async *walk(directory: SitePlace, options: WalkOptions = {}): AsyncGenerator<SourceEntry> {
    const files = new FilesBelow(webOf(directory))
    const open = async (path: string) => {
      const fd = files.open(path)
      return fd === undefined ? undefined : contentOfOpenFile(fd)
    }
    const length = this.#lengthOf(directory)
    try {
      for await (const entry of this.#walk(directory, options)) {
        if (entry.kind !== 'file') yield entry
        else {
          await length.add(entry.sizeBytes)
          yield { ...entry, open: () => open(entry.path) }
        }
      }
    } finally {
      files.close()
    }
  }

  prepare(directory: SitePlace, wanted: AsyncIterable<WantedEntry>, options: PrepareOptions): Promise<PreparedFiles> {
    return this.#alone(directory, async (exchange) => {
      // An interrupted change was abandoned: restore the site as it was before.
      if (exchange.phase() === 'begun') await exchange.goBack()
      let earlier: Earlier | undefined
      try {
        earlier = await exchange.make()
        if (options.isCopy) earlier ??= comparedFiles(directory.siteDirectory)
        return await this.#lay(directory, wanted, { ...options, exchange, earlier })
      } catch (error) {
        await exchange.remove()
        throw error
      } finally {
        await earlier?.close()
      }
    })
  }

  async #lay(
    directory: SitePlace,
    wanted: AsyncIterable<WantedEntry>,
    options: PrepareOptions & Laid,
  ): Promise<PreparedFiles> {
    const { exchange, earlier } = options
    const room = await this.#roomFor(directory, options)
    const writer = new StagedWriter(directory.uid, room, options.signal)
    await using plan = await exchange.openPlan()
    await using known = await exchange.openKnown()
    const changes = new FilePlan(webOf(directory), { exchange, earlier, plan, known, writer })
    try {
      const merging = this.#merge(directory, wanted, changes, options)
      const { freedBytes, freedEntries, ...prepared } = await flushingAlong(
        exchange.folder,
        () => room.takenBytes,
        merging,
      )
      room.checkEnd({ bytes: freedBytes, files: freedEntries })
      await exchange.complete(plan, known)
      return prepared
    } finally {
      await changes.settle()
      writer.close()
    }
  }

  async compare(
    directory: SitePlace,
    wanted: AsyncIterable<WantedEntry>,
    options: PrepareOptions,
  ): Promise<PreparedFiles> {
    const comparison = options.isCopy ? await RememberedComparison.open(directory.siteDirectory) : undefined
    try {
      const changes = comparison ?? new FileComparison(webOf(directory))
      const { written, added, changed, removed } = await this.#merge(directory, wanted, changes, options)
      await comparison?.complete()
      return { written, added, changed, removed }
    } finally {
      await comparison?.close()
    }
  }

  forgetCompared = ({ siteDirectory }: SitePlace): Promise<void> => forgetCompared(siteDirectory)

  switch(directory: SitePlace): Promise<void> {
    return this.#alone(directory, (exchange) => exchange.go())
  }

  switchBack(directory: SitePlace): Promise<void> {
    return this.#alone(directory, (exchange) => exchange.goBack())
  }

  cleanUp(directory: SitePlace): Promise<void> {
    return this.#alone(directory, async (exchange) => {
      if (exchange.phase() === 'begun')
        throw new Error('The files of the site are half switched: they cannot be settled')
      await exchange.remove()
    })
  }

  copy(from: SitePlace, to: SitePlace, options: CopyingOptions = {}): Promise<void> {
    return this.#alone(to, async (exchange) => {
      if (exchange.phase() === 'begun')
        throw new Error('The files of the site are half switched: nothing can be copied there')
      exchange.takeBackRoot()
      await exchange.make()
      try {
        await this.#copyTree(webOf(from), to, exchange.newRoot, options)
        await exchange.switchRoot()
      } finally {
        exchange.takeBackRoot()
        await exchange.remove()
      }
    })
  }

  async #copyTree(from: string, { siteDirectory, uid }: SitePlace, to: string, options: CopyingOptions) {
    const { keepFreeBytes, quotaOf, copy = copyApart } = this.#options
    // The files that the copy replaces do not count.
    const room = {
      folder: siteDirectory,
      keepFreeBytes,
      quota: await quotaOf(siteDirectory),
      usage: { bytes: 0, files: 0 },
    }
    let copied = 0
    const onProgress = (doneBytes: number) => {
      copied = doneBytes
      options.onProgress?.(doneBytes)
    }
    await flushingAlong(siteDirectory, () => copied, copy({ from, to, uid, room }, { ...options, onProgress }))
  }

  /**
   * Limits the bytes that a reader of all files has to read. A hole takes no disk space, so no quota stops it: native
   * PHP creates a file of 8 TB in a moment.
   */
  #lengthOf({ siteDirectory }: SitePlace): { add(bytes: number): Promise<void> } {
    let length = 0
    let most: number | undefined
    const quotaBytes = async () => (await this.#options.quotaOf(siteDirectory))?.bytes ?? Number.POSITIVE_INFINITY
    return {
      async add(bytes) {
        length += bytes
        most ??= MOST_TIMES_AS_LONG * (await quotaBytes())
        if (length <= most) return
        // The quota may have been lowered below what the site has.
        most = Math.max(most, MOST_TIMES_AS_LONG * (await blocksOfTree(siteDirectory)))
        if (length > most)
          throw new TooManyFiles('The files of the site are much longer than what they take of the disk')
      },
    }
  }

  #walk(directory: SitePlace, { scope = ALL, signal, onLeftOut }: WalkOptions = {}) {
    const { granularityMs = GRANULARITY_MS, walk = walkTree } = this.#options
    return walk(webOf(directory), { scope, granularityMs, signal, onLeftOut })
  }

  #merge(directory: SitePlace, wanted: AsyncIterable<WantedEntry>, changes: Changes, options: PrepareOptions) {
    const { scope, signal } = options
    return merge(this.#walk(directory, { scope, ...(signal && { signal }) }), wanted, changes, options)
  }

  async #roomFor(directory: SitePlace, { isCopy = false } = {}): Promise<SpaceCheck> {
    const quota = isCopy ? undefined : await this.#options.quotaOf(directory.siteDirectory)
    const usage = quota ? await measureTree(directory.siteDirectory) : { bytes: 0, files: 0 }
    return new SpaceCheck({ folder: directory.siteDirectory, keepFreeBytes: this.#options.keepFreeBytes, quota, usage })
  }

  /**
   * Runs one change of a site's files at a time.
   * @throws DiskFull when the system reports a full disk
   */
  async #alone<Result>(directory: SitePlace, work: (exchange: Exchange) => Promise<Result>): Promise<Result> {
    const { siteDirectory } = directory
    if (this.#busy.has(siteDirectory)) throw new Error('The files of the site are being changed already')
    this.#busy.add(siteDirectory)
    try {
      return await work(new Exchange(siteDirectory))
    } catch (error) {
      throw asDiskFull(error)
    } finally {
      this.#busy.delete(siteDirectory)
    }
  }
}

interface Laid {
  readonly exchange: Exchange
  readonly earlier: Earlier | undefined
}

const webOf = ({ siteDirectory }: SitePlace): string => join(siteDirectory, 'web')
