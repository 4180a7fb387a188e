/**
 * Changes of a site's files that are prepared, made, and rolled back, in a folder of the site directory that the site
 * cannot reach:
 *
 *   exchange/plan     which entry goes where, one per line; exists when all is staged, and until the work is complete
 *   exchange/new/7    the new entry for number 7 of the plan
 *   exchange/old/7    the previous entry, once it has been moved away
 *   exchange/before   the previous modes and times of files and folders; exists from the first move on
 *   exchange/done     exists once all moves are complete
 *   exchange/known    the facts learned about wanted files, for a later preparation; removed when the switch begins
 *   exchange/earlier  the entries staged before, while such a preparation runs
 *
 * A move is a rename, and the entries in `new` and `old` show how far each number has come. So a process that finds the
 * folder after a crash, wherever it stopped, can continue in either direction. Numbers do not depend on each other.
 */
import { chmodSync, lchownSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { flushFileSystem } from '../../../platform/files/flush-file-system.ts'
import { syncFolder } from '../../../platform/files/write-file.ts'
import { type Attributes, attributesAt, isThere, moveIfThere, setAttributes } from '../attributes.ts'
import { type Lines, openLines, readJsonLines } from '../json-lines.ts'
import { CORE_FOLDERS } from '../paths.ts'
import { removeTree } from '../remove-tree.ts'
import { Earlier } from './earlier.ts'
import { EXCHANGE } from './exchange-folder.ts'
import { atPath } from './pin.ts'

/** A line of the plan. */
export type ExchangeStep =
  | { readonly n: number; readonly path: string; readonly isNew: boolean }
  /** Without attributes, the folder gets its previous ones again, because moves change its times. */
  | { readonly attributes: Attributes | null; readonly path: string }

/** A line of `before`. */
interface Before extends Attributes {
  readonly path: string
  readonly next: Attributes | null
}

/** The progress of an exchange. */
export type Phase = 'none' | 'prepared' | 'begun' | 'done'

/** The number of moves before other work gets a turn. */
const PIECE = 32

export class Exchange {
  readonly folder: string
  readonly #web: string

  constructor(siteDirectory: string) {
    this.#web = join(siteDirectory, 'web')
    this.folder = join(siteDirectory, EXCHANGE)
  }

  phase(): Phase {
    if (!isThere(this.#file('plan'))) return 'none'
    if (isThere(this.#file('done'))) return 'done'
    return isThere(this.#file('before')) ? 'begun' : 'prepared'
  }

  /**
   * Starts a new exchange in place of any remains of another.
   * @returns the staged entries of an exchange that was prepared and never switched
   */
  async make(): Promise<Earlier | undefined> {
    if (this.phase() === 'prepared' && isThere(this.#file('known'))) {
      await this.#disappear('plan')
      renameSync(this.#file('new'), this.#file('earlier'))
      renameSync(this.#file('known'), this.#file('known-earlier'))
      mkdirSync(this.#file('new'), { mode: 0o700 })
      return new Earlier(this.#file('known-earlier'), this.#file('earlier'))
    }
    await this.remove()
    mkdirSync(this.folder, { mode: 0o700 })
    for (const part of ['new', 'old']) mkdirSync(this.#file(part), { mode: 0o700 })
    return undefined
  }

  placeOfNew = (n: number): string => join(this.folder, 'new', String(n))

  /** Opens the plan. `complete` closes it, or the caller that gives up. */
  async openPlan(): Promise<Lines> {
    return openLines(this.#file('plan.tmp'))
  }

  /** Opens the file of known facts. `complete` closes it, or the caller that gives up. */
  async openKnown(): Promise<Lines> {
    return openLines(this.#file('known'))
  }

  /** Makes the exchange prepared, even after a power failure. */
  async complete(plan: Lines, known: Lines): Promise<void> {
    await plan.close()
    await known.close()
    for (const name of ['earlier', 'known-earlier']) await removeTree(this.#file(name))
    await flushFileSystem(this.folder)
    await this.#appear('plan')
  }

  /** Makes all moves. */
  async go(): Promise<void> {
    if (this.phase() === 'prepared') {
      // Once the site could touch the staged files, they can no longer be trusted.
      if (isThere(this.#file('known'))) await this.#disappear('known')
      await this.#writeBefore()
    }
    if (this.phase() !== 'begun') return
    await this.#eachMove((step) => this.#forward(step))
    await this.#eachBefore(({ path, next, ...was }) => setAttributes(this.#web, path, next ?? was))
    await flushFileSystem(this.folder)
    await (await openLines(this.#file('done.tmp'))).close()
    await this.#appear('done')
  }

  /** Reverts the moves, as far as they have come. */
  async goBack(): Promise<void> {
    if (this.phase() === 'done') await this.#disappear('done')
    if (this.phase() !== 'begun') return
    await this.#eachMove((step) => this.#back(step))
    await this.#eachBefore((was) => setAttributes(this.#web, was.path, was))
    await flushFileSystem(this.folder)
    await this.#disappear('before')
  }

  /** The place where a new web root is created, before `switchRoot` puts it in place. */
  get newRoot(): string {
    return this.placeOfNew(0)
  }

  /** Replaces the web root with a new one. If interrupted, `takeBackRoot` restores the old one. */
  async switchRoot(): Promise<void> {
    const { mode, uid, gid } = lstatSync(this.#web)
    const made = CORE_FOLDERS.map((name) => join(this.newRoot, name))
    for (const folder of made) mkdirSync(folder)
    for (const folder of [...made, this.newRoot]) {
      lchownSync(folder, uid, gid)
      chmodSync(folder, mode)
    }
    await flushFileSystem(this.folder)
    renameSync(this.#web, this.#oldRoot)
    renameSync(this.newRoot, this.#web)
    await flushFileSystem(this.folder)
  }

  takeBackRoot(): void {
    if (!isThere(this.#web) && isThere(this.#oldRoot)) renameSync(this.#oldRoot, this.#web)
  }

  get #oldRoot(): string {
    return this.#placesOf(0)[1]
  }

  /** Deletes the exchange. */
  async remove(): Promise<void> {
    if (!isThere(this.folder)) return
    // A half-removed exchange must not look like one in progress.
    if (isThere(this.#file('plan'))) await this.#disappear('plan')
    await removeTree(this.folder)
  }

  #file = (name: string): string => join(this.folder, name)

  #forward({ n, path, isNew }: Extract<ExchangeStep, { n: number }>): void {
    const [fresh, kept] = this.#placesOf(n)
    if (isNew ? !isThere(fresh) : isThere(kept)) return
    const found = atPath(this.#web, path, (place) => {
      if (!isThere(kept)) moveIfThere(place, kept)
      if (isNew) renameSync(fresh, place)
      return true
    })
    if (!found && isNew) throw new Error(`The folder of ${JSON.stringify(path)} is gone`)
  }

  #back({ n, path, isNew }: Extract<ExchangeStep, { n: number }>): void {
    const [fresh, kept] = this.#placesOf(n)
    if (!isThere(kept) && (!isNew || isThere(fresh))) return
    const found = atPath(this.#web, path, (place) => {
      // Also moves an entry that was created in the meantime where one had been removed.
      if (!isThere(fresh)) moveIfThere(place, fresh)
      if (isThere(kept)) renameSync(kept, place)
      return true
    })
    if (!found && isThere(kept)) throw new Error(`The folder of ${JSON.stringify(path)} is gone`)
  }

  #placesOf = (n: number): [string, string] => [this.placeOfNew(n), join(this.folder, 'old', String(n))]

  async #eachMove(move: (step: Extract<ExchangeStep, { n: number }>) => void): Promise<void> {
    let moved = 0
    for await (const step of readJsonLines<ExchangeStep>(this.#file('plan'))) {
      if (!('n' in step)) continue
      move(step)
      if (++moved % PIECE === 0) await turn()
    }
  }

  async #writeBefore(): Promise<void> {
    await using lines = await openLines(this.#file('before.tmp'))
    for await (const step of readJsonLines<ExchangeStep>(this.#file('plan'))) {
      if ('n' in step) continue
      const was = attributesAt(this.#web, step.path)
      if (was) await lines.write({ path: step.path, ...was, next: step.attributes } satisfies Before)
    }
    await lines.close()
    await this.#appear('before')
  }

  async #eachBefore(work: (was: Before) => void): Promise<void> {
    let done = 0
    for await (const was of readJsonLines<Before>(this.#file('before'))) {
      work(was)
      if (++done % PIECE === 0) await turn()
    }
  }

  async #appear(name: string): Promise<void> {
    await rename(this.#file(`${name}.tmp`), this.#file(name))
    await syncFolder(this.folder)
  }

  async #disappear(name: string): Promise<void> {
    await unlink(this.#file(name))
    await syncFolder(this.folder)
  }
}
