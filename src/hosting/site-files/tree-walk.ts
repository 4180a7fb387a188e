import { randomBytes } from 'node:crypto'
import { type BigIntStats, lstatSync, readdirSync, readlinkSync } from 'node:fs'
import type { FileScope, LeftOut } from './file-content.ts'
import { comparePaths, isCores, join, lastName, MOST_PARTS, MOST_PATH_BYTES, parentOf, staysInside } from './paths.ts'
import { isInScope, leadsIntoScope, outermost } from './scope.ts'
import { isGone, openRegular, type Pinned, pin, pinBelow } from './stage/pin.ts'

/** An entry of a site that a walk finds: a `SourceEntry` without the access to its content. */
export type WalkedEntry =
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number; readonly mtimeMs: number }
  | { readonly kind: 'link'; readonly path: string; readonly mtimeMs: number; readonly target: string }
  | WalkedFile

export interface WalkedFile {
  readonly kind: 'file'
  readonly path: string
  readonly mode: number
  readonly mtimeMs: number
  readonly sizeBytes: number
  readonly stamp: string
}

/** The most names in one folder. They are in memory while it is walked. */
const MOST_NAMES = 500_000
/** The most entries of a site in total. */
export const MOST_ENTRIES = 5_000_000

/** A site has more files than Stead handles. The text may be shown to users. */
export class TooManyFiles extends Error {
  override readonly name = 'TooManyFiles'
}

export interface TreeWalkOptions {
  readonly scope: FileScope
  /** A change within this time of the last one may leave the times of a file as they were. */
  readonly granularityMs: number
}

interface Level {
  readonly path: string
  readonly folder: Pinned
  readonly names: readonly string[]
  next: number
}

/**
 * Walks a web root, one entry per call, in the order of `comparePaths`. It is synchronous, for a dedicated thread. It
 * makes one system call for a file, four for a folder, and has as many descriptors as the tree is deep.
 */
export class TreeWalk {
  readonly leftOut: LeftOut[] = []
  readonly #root: string
  readonly #options: TreeWalkOptions
  readonly #starts: string[]
  readonly #levels: Level[] = []
  readonly #nonce = randomBytes(9).toString('base64url')
  #device: bigint | undefined
  #count = 0

  constructor(root: string, options: TreeWalkOptions) {
    this.#root = root
    this.#options = options
    this.#starts = outermost(options.scope.paths)
  }

  /**
   * @returns undefined at the end
   * @throws TooManyFiles
   */
  next(): WalkedEntry | undefined {
    for (;;) {
      const level = this.#levels.at(-1)
      if (!level) {
        const start = this.#starts.shift()
        if (start === undefined) return undefined
        const entry = this.#start(start)
        if (entry) return entry
        continue
      }
      const name = level.names[level.next++]
      if (name === undefined) {
        level.folder.close()
        this.#levels.pop()
        continue
      }
      const entry = this.#look(level.folder, join(level.path, name))
      if (entry) return entry
    }
  }

  /**
   * Opens the file that was found last.
   * @returns undefined when it is gone by now
   */
  open(entry: WalkedFile): number | undefined {
    try {
      return openRegular(this.placeOf(entry))
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }

  /** Returns the place of the entry that was found last in a folder. */
  placeOf = ({ path }: WalkedFile): string => `${this.#levels.at(-1)?.folder.path}/${lastName(path)}`

  #start(path: string): WalkedEntry | undefined {
    const folder = pinBelow(this.#root, parentOf(path))
    if (!folder) return undefined
    this.#device ??= lstatSync(`${folder.path}/.`, { bigint: true }).dev
    if (path === '') {
      this.#push(path, folder)
      return undefined
    }
    try {
      return this.#look(folder, path)
    } finally {
      folder.close()
    }
  }

  #look(folder: Pinned, path: string): WalkedEntry | undefined {
    const { scope } = this.#options
    if (isCores(path)) return undefined
    const place = `${folder.path}/${lastName(path)}`
    const stats = lstatIfThere(place)
    if (!stats) {
      // A name that is not valid text is decoded as another name, which does not exist.
      if (path.includes('\ufffd')) this.#leave(path, 'name')
      return undefined
    }
    const isMeant = isInScope(scope, path)
    if (stats.isDirectory()) return this.#lookAtFolder(place, path, stats)
    if (!isMeant) return undefined
    if (stats.isFile()) return this.#counted(this.#file(path, stats))
    return stats.isSymbolicLink() ? this.#link(place, path, stats) : this.#leave(path, 'kind')
  }

  #lookAtFolder(place: string, path: string, stats: BigIntStats): WalkedEntry | undefined {
    const { scope } = this.#options
    const isMeant = isInScope(scope, path)
    if (!isMeant && !leadsIntoScope(scope, path)) return undefined
    if (stats.dev !== this.#device) return this.#leave(path, 'other file system')
    if (path.split('/').length >= MOST_PARTS) return this.#leave(path, 'depth')
    const folder = pin(place)
    // Gone by now, or swapped.
    if (!folder) return undefined
    this.#push(path, folder)
    if (!isMeant) return undefined
    return this.#counted({ kind: 'folder', path, mode: folderMode(stats), mtimeMs: wholeMs(stats.mtimeNs) })
  }

  #push(path: string, folder: Pinned): void {
    try {
      this.#levels.push({ path, folder, names: this.#names(path, folder), next: 0 })
    } catch (error) {
      folder.close()
      if (!isGone(error)) throw error
      this.#leave(path, 'unreadable')
    }
  }

  #names(path: string, folder: Pinned): string[] {
    const names = readdirSync(folder.path)
    if (names.length > MOST_NAMES)
      throw new TooManyFiles(`The folder ${JSON.stringify(path)} has more than ${MOST_NAMES} files`)
    const room = MOST_PATH_BYTES - Buffer.byteLength(path) - 1
    const sorted = names.sort(comparePaths)
    return sorted.filter((name, at) => {
      if (name === sorted[at - 1]) return false
      // At most three bytes per unit, so most names need no counting.
      if (name.length * 3 <= room || Buffer.byteLength(name) <= room) return true
      this.#leave(join(path, name), 'depth')
      return false
    })
  }

  #file(path: string, stats: BigIntStats): WalkedFile {
    const { mtimeNs, ctimeNs, size, ino } = stats
    const changedMs = Number(ctimeNs / 1_000_000n)
    const stamp = `${ino}.${ctimeNs}.${mtimeNs}.${size}`
    const mayChangeUnseen = changedMs > Date.now() - this.#options.granularityMs
    return {
      kind: 'file',
      path,
      mode: fileMode(stats),
      mtimeMs: wholeMs(mtimeNs),
      sizeBytes: Number(size),
      stamp: mayChangeUnseen ? `${stamp}.${this.#nonce}${this.#count}` : stamp,
    }
  }

  #link(place: string, path: string, stats: BigIntStats): WalkedEntry | undefined {
    const target = readlinkIfThere(place)
    if (target === undefined) return undefined
    if (!staysInside(path, target) || target.includes('\ufffd')) return this.#leave(path, 'link')
    return this.#counted({ kind: 'link', path, mtimeMs: wholeMs(stats.mtimeNs), target })
  }

  #counted(entry: WalkedEntry): WalkedEntry {
    if (++this.#count > MOST_ENTRIES) throw new TooManyFiles(`The site has more than ${MOST_ENTRIES} files`)
    return entry
  }

  #leave(path: string, why: LeftOut['why']): undefined {
    this.leftOut.push({ path, why })
  }
}

/** Returns the permission bits only: no setuid, no setgid, no sticky bit. */
export const fileMode = ({ mode }: { readonly mode: bigint | number }): number => Number(mode) & 0o777

/** Returns the same for a folder, which its owner can always use. */
export const folderMode = (stats: { readonly mode: bigint | number }): number => fileMode(stats) | 0o700

export const wholeMs = (ns: bigint): number => Number(ns / 1_000_000n)

function lstatIfThere(place: string): BigIntStats | undefined {
  try {
    return lstatSync(place, { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function readlinkIfThere(place: string): string | undefined {
  try {
    return readlinkSync(place)
  } catch (error) {
    if (isGone(error) || (error as NodeJS.ErrnoException).code === 'EINVAL') return undefined
    throw error
  }
}
