import { lstatSync, renameSync } from 'node:fs'
import { readJsonLines } from '../json-lines.ts'
import { comparePaths } from '../paths.ts'
import type { WalkedFile } from '../tree-walk.ts'
import type { WantedFile } from './merge.ts'
import { atPath } from './pin.ts'

/** The facts that a preparation learned about a wanted file, in the order of a walk. */
export interface Known {
  readonly path: string
  /** The stamp of the wanted file. */
  readonly stamp: string
  /** The stamp of the site's file with the same content. */
  readonly there?: string
  /** The place where it was staged, below `new`. */
  readonly place?: string
}

/**
 * The facts and files of an earlier preparation, for a later one. When the site is paused, only what the site has
 * changed in the meantime is left to do. Look up paths in the order of a walk.
 */
export class Earlier {
  readonly #lines: AsyncGenerator<Known>
  readonly #laid: string | undefined
  #line: Known | undefined
  #isEnd = false

  /**
   * @param known the file of {@link Known}
   * @param laid the folder with the staged files. Undefined after a comparison, which stages none
   */
  constructor(known: string, laid?: string) {
    this.#lines = readJsonLines<Known>(known)
    this.#laid = laid
  }

  /** @returns undefined when it is not known */
  async isSame(there: WalkedFile, wanted: WantedFile): Promise<boolean | undefined> {
    const known = await this.#find(wanted)
    if (known?.there === there.stamp) return true
    // It differed before. If it is the same by now, replacing it loses nothing.
    return known?.place === undefined ? undefined : false
  }

  /**
   * Moves a staged entry to its new place.
   * @returns its size, or undefined when the entry does not exist
   */
  async take(wanted: WantedFile, place: string): Promise<number | undefined> {
    const known = await this.#find(wanted)
    if (known?.place === undefined || this.#laid === undefined) return undefined
    return atPath(this.#laid, known.place, (from) => {
      const { size } = lstatSync(from)
      renameSync(from, place)
      return size
    })
  }

  async close(): Promise<void> {
    await this.#lines.return(undefined)
  }

  async #find({ path, stamp }: WantedFile): Promise<Known | undefined> {
    // An empty stamp means that the source has no stamps.
    if (stamp === '') return undefined
    while (!this.#isEnd && (!this.#line || comparePaths(this.#line.path, path) < 0)) {
      const { value, done } = await this.#lines.next()
      this.#isEnd = done === true
      this.#line = done ? undefined : (value as Known)
    }
    return this.#line?.path === path && this.#line.stamp === stamp ? this.#line : undefined
  }
}
