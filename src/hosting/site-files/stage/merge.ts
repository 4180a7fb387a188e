import type { Attributes } from '../attributes.ts'
import type { FileScope, PreparedFiles, WantedEntry } from '../file-content.ts'
import { checkPath, comparePaths, FilesRefused, isAtOrBelow, parentOf, staysInside } from '../paths.ts'
import { holdsException, isInScope } from '../scope.ts'
import { fileMode, folderMode, MOST_ENTRIES, type WalkedEntry, type WalkedFile } from '../tree-walk.ts'

export type WantedFile = Extract<WantedEntry, { kind: 'file' }>

/** The actions for the differences that a merge finds. */
export interface Changes {
  /**
   * Returns whether a folder is there, with no link on the way.
   * @throws FilesRefused when something else is there
   */
  hasFolder(path: string): boolean
  /** Returns whether two files of one size are the same. */
  isSame(current: WalkedFile, wanted: WantedFile): Promise<boolean>
  /** Removes everything at the path. */
  remove(path: string): Promise<void>
  /**
   * Puts a new entry at its path, in place of any existing one.
   * @returns false when its content is gone by now, and nothing was done
   */
  put(entry: WantedEntry): Promise<boolean>
  /** Adds an entry to the new folder that was opened last. */
  add(entry: WantedEntry): Promise<void>
  /** Closes the new folder that was opened last. Nothing more is added to it. */
  closeFolder(folder: Attributes): Promise<void>
  /**
   * Keeps a file or folder but sets its attributes. Without attributes, it has the same ones after the change as now.
   */
  setAttributes(path: string, attributes?: Attributes): Promise<void>
}

export interface MergeOptions {
  readonly scope: FileScope
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((doneBytes: number) => void) | undefined
}

/** The counts of a merge, including all bytes that are removed or replaced. */
export interface Merged extends PreparedFiles {
  readonly freedBytes: number
  /** Files and folders that are removed or replaced. */
  readonly freedEntries: number
}

const MOST_NAMED = 1000

class Tally {
  count = 0
  bytes = 0
  readonly first: string[] = []

  add(entry: { readonly kind: string; readonly path: string; readonly sizeBytes?: number }): void {
    if (entry.kind === 'folder') return
    this.count++
    this.bytes += entry.sizeBytes ?? 0
    if (this.first.length < MOST_NAMED) this.first.push(entry.path)
  }
}

interface Frame {
  readonly path: string
  readonly kind: /** Exists, and is wanted. */
  'common' | /** Exists and is not wanted, but holds an entry that we must not remove. */ 'kept' | 'new'
  /** The attributes it needs at the end. A kept one stays as it is. */
  readonly wanted?: Attributes
  /** Whether an entry directly in it is added or removed. */
  isTouched: boolean
}

/**
 * Compares the current and the wanted entries, both in the order of a walk, and calls for each necessary action. Keeps
 * the path to the current entry in memory, not the trees.
 * @throws FilesRefused for entries that cannot be wanted: hostile paths, or entries outside the scope, out of order,
 * duplicate, or without their folder
 */
export async function merge(
  current: AsyncIterable<WalkedEntry>,
  wanted: AsyncIterable<WantedEntry>,
  changes: Changes,
  options: MergeOptions,
): Promise<Merged> {
  const merging = new Merging(changes, options)
  const have = current[Symbol.asyncIterator]()
  const want = checked(wanted, options.scope)[Symbol.asyncIterator]()
  try {
    let [a, b] = [await nextOf(have), await nextOf(want)]
    while (a || b) {
      options.signal?.throwIfAborted()
      const order = !a ? 1 : !b ? -1 : comparePaths(a.path, b.path)
      await merging.goTo((order <= 0 ? a : b) as WalkedEntry)
      if (a && order < 0) await merging.onlyThere(a)
      else if (b && order > 0) await merging.onlyWanted(b)
      else if (a && b) await merging.both(a, b)
      if (order <= 0) a = await nextOf(have)
      if (order >= 0) b = await nextOf(want)
    }
    return await merging.end()
  } finally {
    await have.return?.(undefined)
    await want.return?.(undefined)
  }
}

async function nextOf<Entry>(entries: AsyncIterator<Entry>): Promise<Entry | undefined> {
  const { value, done } = await entries.next()
  return done ? undefined : value
}

/** Passes valid wanted entries, and checks their order. */
async function* checked(entries: AsyncIterable<WantedEntry>, scope: FileScope): AsyncGenerator<WantedEntry> {
  let last: string | undefined
  let count = 0
  for await (const entry of entries) {
    const { path } = entry
    const refuse = (why: string): never => {
      throw new FilesRefused(`${JSON.stringify(path.slice(0, 100))}: ${why}`)
    }
    checkPath(path)
    if (!isInScope(scope, path)) refuse('not part of the change')
    if (last !== undefined && comparePaths(last, path) >= 0) refuse('out of its order, or there twice')
    if (++count > MOST_ENTRIES) refuse(`more than ${MOST_ENTRIES} files`)
    if (entry.kind === 'link' && !staysInside(path, entry.target)) refuse('a link that may point outside the site')
    if (!Number.isFinite(entry.mtimeMs)) refuse('a time that is none')
    if (entry.kind === 'file' && !(entry.sizeBytes >= 0)) refuse('a size that is none')
    last = path
    yield entry
  }
}

class Merging {
  readonly #changes: Changes
  readonly #options: MergeOptions
  readonly #frames: Frame[] = []
  readonly #written = new Tally()
  readonly #added = new Tally()
  readonly #changed = new Tally()
  readonly #removed = new Tally()
  /** Folders outside the scope in which an entry is added or removed. */
  readonly #outside = new Set<string>()
  /** The path that is being removed as a whole. */
  #gone: string | undefined
  #doneBytes = 0
  #freedBytes = 0
  #freedEntries = 0

  constructor(changes: Changes, options: MergeOptions) {
    this.#changes = changes
    this.#options = options
  }

  /** Leaves the folders that do not contain the path. */
  async goTo({ path }: { readonly path: string }): Promise<void> {
    for (;;) {
      const frame = this.#frames.at(-1)
      if (!frame || (path !== frame.path && isAtOrBelow(path, frame.path))) return
      this.#frames.pop()
      await this.#leave(frame)
    }
  }

  async end(): Promise<Merged> {
    for (const frame of this.#frames.splice(0).reverse()) await this.#leave(frame)
    for (const path of this.#outside) await this.#changes.setAttributes(path)
    return {
      written: this.#written,
      added: this.#added,
      changed: this.#changed,
      removed: this.#removed,
      freedBytes: this.#freedBytes,
      freedEntries: this.#freedEntries,
    }
  }

  async onlyThere(entry: WalkedEntry): Promise<void> {
    const { path, kind } = entry
    if (this.#gone === undefined || !isAtOrBelow(path, this.#gone)) {
      if (kind === 'folder' && holdsException(this.#options.scope, path)) {
        this.#frames.push({ path, kind: 'kept', isTouched: false })
        return
      }
      await this.#changes.remove(path)
      this.#touch(path)
      if (kind === 'folder') this.#gone = path
    }
    this.#removed.add(entry)
    this.#free(entry)
  }

  async onlyWanted(entry: WantedEntry): Promise<void> {
    await this.#enterFolderOf(entry.path)
    await this.#put(entry)
    this.#added.add(entry)
    this.#countProgress(entry)
  }

  async both(there: WalkedEntry, wanted: WantedEntry): Promise<void> {
    await this.#enterFolderOf(wanted.path)
    if (there.kind === 'folder' && wanted.kind === 'folder') {
      const attributes = attributesOf(wanted)
      this.#frames.push({ path: wanted.path, kind: 'common', wanted: attributes, isTouched: differ(there, attributes) })
      return
    }
    if (there.kind === 'folder' && holdsException(this.#options.scope, there.path))
      throw new FilesRefused(`${JSON.stringify(there.path.slice(0, 100))}: a folder that must stay is in its place`)
    if (await this.#isSame(there, wanted)) {
      const attributes = attributesOf(wanted)
      if (there.kind === 'file' && differ(there, attributes)) await this.#changes.setAttributes(wanted.path, attributes)
    } else if (!(await this.#put(wanted))) await this.onlyThere(there)
    else this.#replaced(there, wanted)
    this.#countProgress(wanted)
  }

  #replaced(there: WalkedEntry, wanted: WantedEntry): void {
    if (there.kind === 'folder') this.#gone = there.path
    else if (wanted.kind === 'folder') this.#removed.add(there)
    this.#changed.add(wanted)
    this.#free(there)
  }

  #free(entry: WalkedEntry): void {
    this.#freedEntries++
    if (entry.kind === 'file') this.#freedBytes += entry.sizeBytes
  }

  async #isSame(there: WalkedEntry, wanted: WantedEntry): Promise<boolean> {
    if (there.kind === 'link' && wanted.kind === 'link')
      return there.target === wanted.target && there.mtimeMs === Math.floor(wanted.mtimeMs)
    if (there.kind !== 'file' || wanted.kind !== 'file' || there.sizeBytes !== wanted.sizeBytes) return false
    return there.stamp === wanted.stamp || this.#changes.isSame(there, wanted)
  }

  async #put(entry: WantedEntry): Promise<boolean> {
    if (this.#frames.at(-1)?.kind === 'new') await this.#changes.add(entry)
    else if (await this.#changes.put(entry)) this.#touch(entry.path)
    else return false
    this.#written.add(entry)
    if (entry.kind === 'folder')
      this.#frames.push({ path: entry.path, kind: 'new', wanted: attributesOf(entry), isTouched: false })
    return true
  }

  /** Makes sure that the folder is wanted, or is outside the scope and exists. */
  async #enterFolderOf(path: string): Promise<void> {
    const folder = parentOf(path)
    const frame = this.#frames.at(-1)
    if (frame?.path === folder && frame.kind !== 'kept') return
    if (folder === '') return
    if (isInScope(this.#options.scope, folder))
      throw new FilesRefused(`${JSON.stringify(path.slice(0, 100))}: its folder is missing, or is not a folder`)
    const parts = folder.split('/')
    for (let depth = 1; depth <= parts.length; depth++) {
      const above = parts.slice(0, depth).join('/')
      const isNew = this.#frames.some((each) => each.path === above && each.kind === 'new')
      if (isNew || this.#changes.hasFolder(above)) continue
      await this.#put({ kind: 'folder', path: above, mode: 0o755, mtimeMs: Date.now() })
    }
  }

  #touch(path: string): void {
    const folder = parentOf(path)
    const frame = this.#frames.at(-1)
    if (frame?.path === folder) frame.isTouched = true
    else this.#outside.add(folder)
  }

  async #leave(frame: Frame): Promise<void> {
    if (frame.kind === 'new') await this.#changes.closeFolder(frame.wanted as Attributes)
    else if (frame.isTouched) await this.#changes.setAttributes(frame.path, frame.wanted)
  }

  #countProgress(entry: WantedEntry): void {
    if (entry.kind !== 'file') return
    this.#doneBytes += entry.sizeBytes
    this.#options.onProgress?.(this.#doneBytes)
  }
}

/** Returns the wanted attributes within limits: no setuid, whole milliseconds. */
function attributesOf(entry: WantedEntry): Attributes {
  const mtimeMs = Math.floor(entry.mtimeMs)
  if (entry.kind === 'link') return { mode: 0, mtimeMs }
  return { mode: entry.kind === 'folder' ? folderMode(entry) : fileMode(entry), mtimeMs }
}

const differ = (there: WalkedEntry, wanted: Attributes): boolean =>
  there.kind !== 'link' && (there.mode !== wanted.mode || there.mtimeMs !== wanted.mtimeMs)
