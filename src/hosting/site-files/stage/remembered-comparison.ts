import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isThere } from '../attributes.ts'
import { type Lines, openLines } from '../json-lines.ts'
import type { WalkedFile } from '../tree-walk.ts'
import { Earlier, type Known } from './earlier.ts'
import { COMPARED } from './exchange-folder.ts'
import { FileComparison } from './file-plan.ts'
import type { WantedFile } from './merge.ts'

/**
 * Returns what the last comparison found, or `undefined` without one. A stamp includes the change time, which a site
 * cannot set. So a file with its stamp has the content that was compared.
 */
export function comparedFiles(siteDirectory: string): Earlier | undefined {
  const file = join(siteDirectory, COMPARED)
  return isThere(file) ? new Earlier(file) : undefined
}

export const forgetCompared = (siteDirectory: string): Promise<void> =>
  rm(join(siteDirectory, COMPARED), { force: true })

/** Comparison that reads only files that have changed since the last one, and writes down what it finds. */
export class RememberedComparison extends FileComparison {
  readonly #siteDirectory: string
  readonly #earlier: Earlier | undefined
  readonly #lines: Lines

  private constructor(siteDirectory: string, lines: Lines) {
    super(join(siteDirectory, 'web'))
    this.#siteDirectory = siteDirectory
    this.#earlier = comparedFiles(siteDirectory)
    this.#lines = lines
  }

  static async open(siteDirectory: string): Promise<RememberedComparison> {
    return new RememberedComparison(siteDirectory, await openLines(join(siteDirectory, `${COMPARED}.tmp`)))
  }

  override async isSame(there: WalkedFile, wanted: WantedFile): Promise<boolean> {
    if (!((await this.#earlier?.isSame(there, wanted)) ?? (await super.isSame(there, wanted)))) return false
    await this.#lines.write({ path: wanted.path, stamp: wanted.stamp, there: there.stamp } satisfies Known)
    return true
  }

  /** Keeps what it found for the next one. */
  async complete(): Promise<void> {
    await this.#lines.close()
    await rename(join(this.#siteDirectory, `${COMPARED}.tmp`), join(this.#siteDirectory, COMPARED))
  }

  async close(): Promise<void> {
    await this.#earlier?.close()
    await this.#lines[Symbol.asyncDispose]()
  }
}
