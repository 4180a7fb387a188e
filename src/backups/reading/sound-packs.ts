import type { ChunkIndex, PackState } from '../chunk-index.ts'
import { idText } from '../format/chunk.ts'
import { packName } from '../format/object-names.ts'
import { packedChunks, readPackTable } from '../format/pack.ts'
import type { RepositoryParts } from './manifests.ts'
import { type SoundOptions, soundChunks } from './sound-chunks.ts'

/**
 * When a pack was last read back completely, and its write time then according to the storage. Both in milliseconds
 * UTC.
 */
export interface PackCheck {
  readonly at: number
  readonly modifiedAt: number
}

export interface SoundPacksOptions extends SoundOptions {
  /** The checks that earlier backups have recorded. */
  readonly earlier: ReadonlyMap<string, PackCheck>
  /** How long an earlier check counts, if the pack was not written since. */
  readonly trustMs: number
  /** Receives the chunks of packs without an index, which the backup adopts. */
  readonly into?: Set<string> | undefined
  /** Called once for each damaged pack, before the result is returned. */
  readonly onDamaged: (pack: string) => void
}

/** Reads packs back before a backup reuses them. Each pack is read once, one at a time. */
export class SoundPacks {
  /** The checks of the sound packs. */
  readonly checks = new Map<string, PackCheck>()
  readonly #parts: RepositoryParts
  readonly #index: ChunkIndex
  readonly #options: SoundPacksOptions
  readonly #answers = new Map<string, Promise<boolean>>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: RepositoryParts, index: ChunkIndex, options: SoundPacksOptions) {
    this.#parts = parts
    this.#index = index
    this.#options = options
  }

  /**
   * Returns whether a pack has all its content. Marks it otherwise.
   * @throws StorageFailure
   */
  isSound(pack: PackState): Promise<boolean> {
    const known = this.#answers.get(pack.id)
    if (known) return known
    const answer = this.#check(pack)
    this.#answers.set(pack.id, answer)
    return answer
  }

  async #check(pack: PackState): Promise<boolean> {
    const before = this.#options.earlier.get(pack.id)
    const now = this.#parts.now()
    if (before?.modifiedAt === pack.modifiedAt && Math.abs(now - before.at) < this.#options.trustMs) {
      this.checks.set(pack.id, before)
      return true
    }
    const reading = this.#last.then(() => this.#isRead(pack))
    this.#last = reading.catch(() => {})
    if (await reading) {
      this.checks.set(pack.id, { at: now, modifiedAt: pack.modifiedAt })
      return true
    }
    pack.isMarked = true
    this.#options.onDamaged(pack.id)
    await this.#parts.markDamaged(pack.id)
    return false
  }

  async #isRead({ id, isIndexed }: PackState): Promise<boolean> {
    const table = this.#index.tables.get(id) as Buffer
    const places = Array.from(packedChunks(table), ({ id: chunk, ...row }) => ({
      chunk: idText(chunk),
      ...row,
      pack: id,
    }))
    const sound = await soundChunks(this.#parts, places, this.#options)
    if (!isIndexed) for (const chunk of sound) this.#options.into?.add(chunk)
    // They are read twice, because a transmission error does not recur.
    const rest = places.filter(({ chunk }) => !sound.has(chunk))
    const again = await soundChunks(this.#parts, rest, this.#options)
    return again.size === rest.length && (await this.#hasTable(id, table))
  }

  /** Checks the table at the end of a pack, which is the only one left if an index is lost. */
  async #hasTable(id: string, table: Buffer): Promise<boolean> {
    const { storage, keys } = this.#parts
    const sizeBytes = this.#index.writtenBytes(id)
    const read = (bytes: number) =>
      storage.get(packName(keys.owner, id), { start: Math.max(0, sizeBytes - bytes) }, this.#options.signal)
    const isThere = () =>
      readPackTable(keys, id, read).then(
        (found) => found.equals(table),
        (error: Error) => {
          if (error.name === 'StorageFailure' || this.#options.signal?.aborted) throw error
          return false
        },
      )
    return (await isThere()) || (await isThere())
  }
}
