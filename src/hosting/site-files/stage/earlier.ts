import { lstatSync, renameSync } from 'node:fs'
import { readLines } from '../lines.ts'
import { comparePaths } from '../paths.ts'
import type { WalkedFile } from '../tree-walk.ts'
import type { WantedFile } from './merge.ts'
import { atPath } from './pin.ts'

/** What was found out of a wanted file. In the order of a walk. */
export interface Known {
  readonly path: string
  /** Of the wanted file. */
  readonly stamp: string
  /** Stamp of the site's file with the same content. */
  readonly there?: string
  /** Where it was laid, below `new`. */
  readonly place?: string
}

/**
 * What an earlier preparation found out and laid, for one that comes after it: when the site stands still, only what the site has changed
 * meanwhile is left to do. Asked for paths in the order of a walk.
 */
export class Earlier {
  readonly #lines: AsyncGenerator<Known>
  readonly #laid: string
  #line: Known | undefined
  #isEnd = false

  /** @param known file of {@link Known} @param laid folder with what was laid */
  constructor(known: string, laid: string) {
    this.#lines = readLines<Known>(known)
    this.#laid = laid
  }

  /** @returns undefined when it is not known */
  async isSame(there: WalkedFile, wanted: WantedFile): Promise<boolean | undefined> {
    const known = await this.#find(wanted)
    if (known?.there === there.stamp) return true
    // it was another one: should it be the same by now, nothing is lost by replacing it
    return known?.place === undefined ? undefined : false
  }

  /** Moves what was laid to its new place. @returns its size; undefined when there is no such thing */
  async take(wanted: WantedFile, place: string): Promise<number | undefined> {
    const known = await this.#find(wanted)
    if (known?.place === undefined) return undefined
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
    // who knows no stamp has none
    if (stamp === '') return undefined
    while (!this.#isEnd && (!this.#line || comparePaths(this.#line.path, path) < 0)) {
      const { value, done } = await this.#lines.next()
      this.#isEnd = done === true
      this.#line = done ? undefined : (value as Known)
    }
    return this.#line?.path === path && this.#line.stamp === stamp ? this.#line : undefined
  }
}
