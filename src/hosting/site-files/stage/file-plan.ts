import { lstatSync } from 'node:fs'
import { InOrder } from '../../../platform/in-order.ts'
import type { Attributes } from '../attributes.ts'
import type { WantedEntry } from '../file-content.ts'
import type { Lines } from '../json-lines.ts'
import { FilesRefused } from '../paths.ts'
import { isSameContent } from '../same-content.ts'
import type { WalkedFile } from '../tree-walk.ts'
import type { Earlier, Known } from './earlier.ts'
import type { Exchange, ExchangeStep } from './exchange.ts'
import type { Changes, WantedFile } from './merge.ts'
import { atPath, pinBelow } from './pin.ts'
import type { StagedWriter } from './staged-writer.ts'

/** Only compares, and changes nothing. */
export class FileComparison implements Changes {
  readonly #web: string

  constructor(web: string) {
    this.#web = web
  }

  hasFolder(path: string): boolean {
    const folder = pinBelow(this.#web, path)
    folder?.close()
    if (folder) return true
    const other = atPath(this.#web, path, (place) => lstatSync(place, { throwIfNoEntry: false }))
    if (other) throw new FilesRefused(`${JSON.stringify(path.slice(0, 100))} is in the way: it is not a folder`)
    return false
  }

  isSame({ path }: WalkedFile, wanted: WantedFile): Promise<boolean> {
    return isSameContent(this.#web, path, wanted)
  }

  async remove(_path: string): Promise<void> {}

  async put(_entry: WantedEntry): Promise<boolean> {
    return true
  }

  async add(_entry: WantedEntry): Promise<void> {}

  async closeFolder(_folder: Attributes): Promise<void> {}

  async setAttributes(_path: string, _attributes?: Attributes): Promise<void> {}
}

export interface FilePlanParts {
  readonly exchange: Exchange
  readonly earlier: Earlier | undefined
  readonly plan: Lines
  readonly known: Lines
  readonly writer: StagedWriter
}

/**
 * The number of files of a new folder that are written at once. Opening and closing a file takes longer than writing
 * it.
 */
const FILES_AT_ONCE = 16
/** A larger file counts as four, because pieces of each are in memory. */
const LARGE_BYTES = 512 << 10

/** Stages new entries in the exchange, and writes down where each goes. */
export class FilePlan extends FileComparison {
  readonly #parts: FilePlanParts
  readonly #writing = new InOrder(FILES_AT_ONCE)
  #number = 0
  /** The path of the entry that was put last. */
  #top = ''

  constructor(web: string, parts: FilePlanParts) {
    super(web)
    this.#parts = parts
  }

  override async isSame(there: WalkedFile, wanted: WantedFile): Promise<boolean> {
    const { earlier, known } = this.#parts
    if (!((await earlier?.isSame(there, wanted)) ?? (await super.isSame(there, wanted)))) return false
    await known.write({ path: wanted.path, stamp: wanted.stamp, there: there.stamp } satisfies Known)
    return true
  }

  override remove(path: string): Promise<void> {
    return this.#parts.plan.write({ n: ++this.#number, path, isNew: false } satisfies ExchangeStep)
  }

  override async put(entry: WantedEntry): Promise<boolean> {
    const { exchange, plan } = this.#parts
    this.#top = entry.path
    if (!(await this.#make(entry, exchange.placeOfNew(++this.#number)))) return false
    await plan.write({ n: this.#number, path: entry.path, isNew: true } satisfies ExchangeStep)
    return true
  }

  /** Adds an entry. A file may still be written after the call returns, until its folder is closed. */
  override async add(entry: WantedEntry): Promise<void> {
    const { writer, known } = this.#parts
    const place = writer.placeOf(entry.path)
    if (entry.kind !== 'file') await writer.make(entry, place)
    else {
      const line = this.#knownOf(entry)
      const isThere = await this.#takeEarlier(entry, place)
      const made = isThere ? Promise.resolve(true) : writer.make(entry, place)
      const weight = entry.sizeBytes > LARGE_BYTES ? 4 : 1
      await this.#writing.begin(weight, made, async (isMade) => {
        if (isMade) await known.write(line)
      })
    }
  }

  override async closeFolder(folder: Attributes): Promise<void> {
    await this.#writing.end()
    this.#parts.writer.closeFolder(folder)
  }

  /** Waits for files that are still being written after a failure. */
  settle(): Promise<void> {
    return this.#writing.settle()
  }

  override setAttributes(path: string, attributes?: Attributes): Promise<void> {
    return this.#parts.plan.write({ attributes: attributes ?? null, path } satisfies ExchangeStep)
  }

  async #make(entry: WantedEntry, place: string): Promise<boolean> {
    const { writer } = this.#parts
    if (entry.kind !== 'file') return writer.make(entry, place)
    if (!(await this.#takeEarlier(entry, place)) && !(await writer.make(entry, place))) return false
    await this.#parts.known.write(this.#knownOf(entry))
    return true
  }

  /** Returns the facts to record about a staged file. */
  #knownOf({ path, stamp }: WantedFile): Known {
    return { path, stamp, place: `${this.#number}${path.slice(this.#top.length)}` }
  }

  async #takeEarlier(entry: WantedFile, place: string): Promise<boolean> {
    const sizeBytes = await this.#parts.earlier?.take(entry, place)
    if (sizeBytes !== undefined) this.#parts.writer.count(sizeBytes)
    return sizeBytes !== undefined
  }
}
