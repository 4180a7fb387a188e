/**
 * Changes of a site's files that are prepared, made and taken back, in a folder of the site directory that the site does not reach:
 *
 *   exchange/plan     what goes where, a line each; there when all is laid. While it is there, there is something to go on with
 *   exchange/new/7    what number 7 of the plan puts in its place
 *   exchange/old/7    what was there, once it has been moved away
 *   exchange/before   modes and times that files and folders had: there from the first move on
 *   exchange/done     all moves are made
 *   exchange/known    what was found out of wanted files, for a preparation that comes after this one; gone when the switch begins
 *   exchange/earlier  what was laid before, while such a preparation goes on
 *
 * A move is a rename, and each number tells by what lies in `new` and `old` how far it has come. So whoever finds the folder after a
 * crash, however it was cut off, goes on in either direction. Numbers do not depend on each other.
 */
import { chmodSync, lchownSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { flushFileSystem } from '../../../platform/files/flush-file-system.ts'
import { type Attributes, attributesAt, isThere, moveIfThere, setAttributes } from '../attributes.ts'
import { type Lines, openLines, readLines, syncFolder } from '../lines.ts'
import { CORE_FOLDERS } from '../paths.ts'
import { removeTree } from '../remove-tree.ts'
import { Earlier } from './earlier.ts'
import { EXCHANGE } from './exchange-folder.ts'
import { atPath } from './pin.ts'

/** A line of the plan. */
export type Step =
  | { readonly n: number; readonly path: string; readonly isNew: boolean }
  /** Without attributes: what the folder had before is set again, as moves change its times. */
  | { readonly attributes: Attributes | null; readonly path: string }

/** A line of `before`. */
interface Before extends Attributes {
  readonly path: string
  readonly next: Attributes | null
}

/** How far an exchange is. */
export type Phase = 'none' | 'prepared' | 'begun' | 'done'

/** So many moves at a time; then others may. */
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

  /** A new one, in place of whatever was left of another. @returns what one that was prepared, and never switched, has laid */
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

  /** To be closed by `complete`, or by whoever gives up. */
  async openPlan(): Promise<Lines> {
    return openLines(this.#file('plan.tmp'))
  }

  /** The same. */
  async openKnown(): Promise<Lines> {
    return openLines(this.#file('known'))
  }

  /** From now on the exchange is prepared, also after losing power. */
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
      // what the site has had in its hands is not what was laid
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

  /** Takes back what moves were made. */
  async goBack(): Promise<void> {
    if (this.phase() === 'done') await this.#disappear('done')
    if (this.phase() !== 'begun') return
    await this.#eachMove((step) => this.#back(step))
    await this.#eachBefore((was) => setAttributes(this.#web, was.path, was))
    await flushFileSystem(this.folder)
    await this.#disappear('before')
  }

  /** Where a new web root is made, to be put in place by `switchRoot`. */
  get newRoot(): string {
    return this.placeOfNew(0)
  }

  /** Puts a new web root in place of the one that is there. Cut off in between, `takeBackRoot` brings the old one back. */
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

  /** Forgets all of it. */
  async remove(): Promise<void> {
    if (!isThere(this.folder)) return
    // half removed it must not be taken for one that goes on
    if (isThere(this.#file('plan'))) await this.#disappear('plan')
    await removeTree(this.folder)
  }

  #file = (name: string): string => join(this.folder, name)

  #forward({ n, path, isNew }: Extract<Step, { n: number }>): void {
    const [fresh, kept] = this.#placesOf(n)
    if (isNew ? !isThere(fresh) : isThere(kept)) return
    const found = atPath(this.#web, path, (place) => {
      if (!isThere(kept)) moveIfThere(place, kept)
      if (isNew) renameSync(fresh, place)
      return true
    })
    if (!found && isNew) throw new Error(`The folder of ${JSON.stringify(path)} is gone`)
  }

  #back({ n, path, isNew }: Extract<Step, { n: number }>): void {
    const [fresh, kept] = this.#placesOf(n)
    if (!isThere(kept) && (!isNew || isThere(fresh))) return
    const found = atPath(this.#web, path, (place) => {
      // also what was made meanwhile where something had been removed
      if (!isThere(fresh)) moveIfThere(place, fresh)
      if (isThere(kept)) renameSync(kept, place)
      return true
    })
    if (!found && isThere(kept)) throw new Error(`The folder of ${JSON.stringify(path)} is gone`)
  }

  #placesOf = (n: number): [string, string] => [this.placeOfNew(n), join(this.folder, 'old', String(n))]

  async #eachMove(move: (step: Extract<Step, { n: number }>) => void): Promise<void> {
    let moved = 0
    for await (const step of readLines<Step>(this.#file('plan'))) {
      if (!('n' in step)) continue
      move(step)
      if (++moved % PIECE === 0) await turn()
    }
  }

  async #writeBefore(): Promise<void> {
    await using lines = await openLines(this.#file('before.tmp'))
    for await (const step of readLines<Step>(this.#file('plan'))) {
      if ('n' in step) continue
      const was = attributesAt(this.#web, step.path)
      if (was) await lines.write({ path: step.path, ...was, next: step.attributes } satisfies Before)
    }
    await lines.close()
    await this.#appear('before')
  }

  async #eachBefore(work: (was: Before) => void): Promise<void> {
    let done = 0
    for await (const was of readLines<Before>(this.#file('before'))) {
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
