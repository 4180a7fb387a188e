import { BackupDamaged, type BackupFacts, BackupMissing, type StoredFile, type VerifyOptions } from '../backup-store.ts'
import { type ChunkIndex, loadIndex } from '../chunk-index.ts'
import { entriesOf, listedParts, type StreamPart } from '../format/listing.ts'
import { factsOf, type Manifest } from '../format/manifest.ts'
import { ChunkLost, ChunkReader } from './chunk-reader.ts'
import { findManifest, type RepositoryParts } from './manifests.ts'

/** The most faults that a message names. */
const MOST_NAMED = 50

/**
 * Reads a whole backup. Marks packs with damaged content, so that the next backup rewrites their chunks where it can.
 */
export async function verifyBackup(
  parts: RepositoryParts,
  name: string,
  options: VerifyOptions = {},
): Promise<BackupFacts> {
  const manifest = await findManifest(parts, name)
  if (!manifest) throw new BackupMissing(`${parts.keys.owner} has no backup ${name}.`)
  const index = await loadIndex(parts.storage, parts.keys, options.signal)
  const reader = new ChunkReader(parts, index)
  const check = new Check(reader, options, options.only && { index, packs: new Set(manifest.packs) })
  for (const chunk of manifest.listing) await check.listing(chunk, manifest)
  if (check.faults > 0)
    throw new BackupDamaged(
      `Backup ${name} of ${parts.keys.owner} is damaged. ${check.named.join('; ')}${check.faults > check.named.length ? `; and ${check.faults - check.named.length} more` : ''}. The rest of the backup is readable.`,
    )
  return factsOf(manifest)
}

interface Added {
  readonly index: ChunkIndex
  readonly packs: ReadonlySet<string>
}

class Check {
  faults = 0
  readonly named: string[] = []
  readonly #reader: ChunkReader
  readonly #options: VerifyOptions
  readonly #added: Added | undefined
  /** The fault of each chunk that was read; `undefined` if it is sound. */
  readonly #known = new Map<string, string | undefined>()
  #doneBytes = 0

  /** @param added the part that is read; for the rest, existence is enough. By default, everything is read */
  constructor(reader: ChunkReader, options: VerifyOptions, added: Added | undefined) {
    this.#reader = reader
    this.#options = options
    this.#added = added
    for (const chunk of options.readBack ?? []) this.#known.set(chunk, undefined)
  }

  async listing(chunk: string, { kind }: Manifest): Promise<void> {
    let listing: Buffer
    try {
      listing = await this.#reader.read(chunk, this.#options.signal)
    } catch (error) {
      if (!(error instanceof ChunkLost)) throw error
      this.#fault(`a part of its list: ${error.message}`)
      return
    }
    if (kind === 'stream') for (const part of listedParts(listing)) await this.#streamPart(part)
    else await this.#files([...entriesOf(listing)].filter((entry) => entry.kind === 'file'))
  }

  async #files(files: readonly StoredFile[]): Promise<void> {
    const unknown = new Set(files.flatMap(({ chunks }) => chunks).filter((chunk) => !this.#known.has(chunk)))
    const toRead = [...unknown].filter((chunk) => !this.#isOfOthers(chunk))
    const sound = await this.#reader.sound(toRead, this.#options)
    for (const chunk of sound) this.#known.set(chunk, undefined)
    for (const { path, sizeBytes, chunks } of files) {
      for (const each of chunks) {
        const fault = await this.#chunk(each)
        if (fault) this.#fault(`${path}: ${fault}`)
      }
      this.#progress(sizeBytes)
    }
  }

  async #streamPart({ chunk, sizeBytes }: StreamPart): Promise<void> {
    if (!this.#options.onContent && this.#isOfOthers(chunk)) return this.#progress(sizeBytes)
    try {
      await this.#options.yieldWhileBusy?.()
      const content = await this.#reader.read(chunk, this.#options.signal)
      await this.#options.onContent?.(content)
      this.#progress(content.length)
    } catch (error) {
      if (!(error instanceof ChunkLost)) throw error
      this.#fault(error.message)
    }
  }

  /** Reads each chunk once, however many files share it. */
  async #chunk(chunk: string): Promise<string | undefined> {
    if (this.#known.has(chunk)) return this.#known.get(chunk)
    if (this.#isOfOthers(chunk)) return undefined
    const fault = await this.#reader.read(chunk, this.#options.signal).then(
      () => undefined,
      (error) => {
        if (error instanceof ChunkLost) return error.message
        throw error
      },
    )
    this.#known.set(chunk, fault)
    return fault
  }

  /** Returns whether it is in a pack of another backup that seems complete. */
  #isOfOthers(chunk: string): boolean {
    if (!this.#added) return false
    const { index, packs } = this.#added
    const place = index.usable(chunk)
    return place !== undefined && !packs.has(place.pack.id)
  }

  #fault(text: string): void {
    this.faults++
    if (this.named.length < MOST_NAMED) this.named.push(text)
  }

  #progress(bytes: number): void {
    this.#options.signal?.throwIfAborted()
    this.#doneBytes += bytes
    this.#options.onProgress?.(this.#doneBytes)
  }
}
