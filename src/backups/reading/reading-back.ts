import { idText } from '../format/chunk.ts'
import { rowsOf } from '../format/pack.ts'
import type { RepositoryParts } from './manifests.ts'
import { type SoundOptions, soundChunks } from './sound-chunks.ts'

export interface ReadingBackOptions extends SoundOptions {
  /** Chunks that are what was written. */
  readonly into: Set<string>
}

/** Reads packs back, one after the other, while others are written. */
export class ReadingBack {
  /** Packs that do not hold all that they should, as far as was seen. */
  readonly unsound = new Set<string>()
  /** The others that were read. */
  readonly sound = new Set<string>()
  readonly #parts: RepositoryParts
  readonly #options: ReadingBackOptions
  #last: Promise<void> = Promise.resolve()

  constructor(parts: RepositoryParts, options: ReadingBackOptions) {
    this.#parts = parts
    this.#options = options
  }

  /** @param table of a pack that is in the storage */
  add(pack: string, table: Buffer): void {
    this.#last = this.#last.then(() => this.#read(pack, table))
    // told by `end`
    this.#last.catch(() => {})
  }

  /** Waits until all were read. @throws StorageFailure */
  end(): Promise<void> {
    return this.#last
  }

  /** The same when all has failed. */
  async finish(): Promise<void> {
    await this.#last.catch(() => {})
  }

  async #read(pack: string, table: Buffer): Promise<void> {
    const { into, ...options } = this.#options
    const places = Array.from(rowsOf(table), ({ id, ...row }) => ({ chunk: idText(id), ...row, pack }))
    const sound = await soundChunks(this.#parts, places, options)
    if (sound.size < places.length) this.unsound.add(pack)
    else this.sound.add(pack)
    for (const chunk of sound) into.add(chunk)
  }
}
