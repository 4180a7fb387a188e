import { idText } from '../format/chunk.ts'
import { packedChunks } from '../format/pack.ts'
import type { RepositoryParts } from './manifests.ts'
import { type SoundOptions, soundChunks } from './sound-chunks.ts'

export interface ReadingBackOptions extends SoundOptions {
  /** Receives the chunks that are what was written. */
  readonly into: Set<string>
}

/** Reads packs back, one after another, while others are written. */
export class ReadingBack {
  /** The packs in which damaged content was found. */
  readonly unsound = new Set<string>()
  /** The other packs that were read. */
  readonly sound = new Set<string>()
  readonly #parts: RepositoryParts
  readonly #options: ReadingBackOptions
  #last: Promise<void> = Promise.resolve()

  constructor(parts: RepositoryParts, options: ReadingBackOptions) {
    this.#parts = parts
    this.#options = options
  }

  /** @param table that of a pack in the storage */
  add(pack: string, table: Buffer): void {
    this.#last = this.#last.then(() => this.#read(pack, table))
    // `end` reports the error.
    this.#last.catch(() => {})
  }

  /**
   * Waits until all packs were read.
   * @throws StorageFailure
   */
  end(): Promise<void> {
    return this.#last
  }

  /** Does the same after a failure of the write, without throwing. */
  async finish(): Promise<void> {
    await this.#last.catch(() => {})
  }

  async #read(pack: string, table: Buffer): Promise<void> {
    const { into, ...options } = this.#options
    const places = Array.from(packedChunks(table), ({ id, ...row }) => ({ chunk: idText(id), ...row, pack }))
    const sound = await soundChunks(this.#parts, places, options)
    if (sound.size < places.length) this.unsound.add(pack)
    else this.sound.add(pack)
    for (const chunk of sound) into.add(chunk)
  }
}
