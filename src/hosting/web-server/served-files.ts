import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

/** Where PHP writes files that visitors read. */
const WRITTEN = /^\/wp-content\/[\x21-\x7e]{1,500}$/
/** Of a site, and of all sites together: some 200 bytes each. */
const MOST_OF_SITE = 500
const MOST = 20_000
/** More paths than one order names: then all files of the site are let go of. */
const MOST_PATHS = 100
/** Looks at one site follow each other no sooner: after what may write, and after a page for a visitor. */
const PAUSE_MS = { write: 2_000, read: 30_000 } as const

export interface ServedFilesOptions {
  /** Has edges let go of files of a site: of these paths, or of all. */
  readonly onChanged: (siteId: number, paths: readonly string[] | 'all') => void
  readonly pauseMs?: { readonly write: number; readonly read: number }
}

interface Served {
  readonly siteDirectory: string
  /** Stamps by path. */
  readonly files: Map<string, string>
  lookedMs: number
  timer: NodeJS.Timeout | undefined
}

/**
 * Files that edges were given and keep for a day, and that PHP may write anew: style sheets that a plugin makes, pictures that are
 * replaced. After PHP was at work their times and sizes are looked at. It knows the last some hundred of a site; what it has forgotten
 * goes when its time is over.
 */
export class ServedFiles {
  readonly #options: ServedFilesOptions
  readonly #sites = new LRUCache<number, Served>({
    max: 2000,
    dispose: ({ files, timer }) => {
      clearTimeout(timer)
      this.#count -= files.size
    },
  })
  #count = 0

  constructor(options: ServedFilesOptions) {
    this.#options = options
  }

  /** Remembers a file that an edge was given. @param path as visitors ask for it, without its query */
  note(
    { siteId, siteDirectory }: { readonly siteId: number; readonly siteDirectory: string },
    path: string,
    stats: Stats,
  ): void {
    if (!WRITTEN.test(path)) return
    const there = statsOf(siteDirectory, path)
    // rules have led elsewhere
    if (there?.ino !== stats.ino) return
    let served = this.#sites.get(siteId)
    if (served?.siteDirectory !== siteDirectory) {
      served = { siteDirectory, files: new Map(), lookedMs: Number.NEGATIVE_INFINITY, timer: undefined }
      this.#sites.set(siteId, served)
    }
    const { files } = served
    if (!files.delete(path)) this.#count++
    files.set(path, stampOf(stats))
    const oldest = files.keys().next().value
    if (files.size > MOST_OF_SITE && oldest !== undefined && files.delete(oldest)) this.#count--
    while (this.#count > MOST && this.#sites.size > 1) this.#sites.pop()
  }

  /** Looks at what was given of a site, soon: its PHP was at work. */
  mayHaveChanged(siteId: number, kind: 'write' | 'read'): void {
    const served = this.#sites.peek(siteId)
    if (!served || (served.timer && kind === 'read')) return
    clearTimeout(served.timer)
    const pauseMs = (this.#options.pauseMs ?? PAUSE_MS)[kind]
    const inMs = Math.max(0, served.lookedMs + pauseMs - performance.now())
    served.timer = setTimeout(() => this.#look(siteId, served), inMs).unref()
  }

  #look(siteId: number, served: Served): void {
    served.timer = undefined
    served.lookedMs = performance.now()
    const changed: string[] = []
    for (const [path, stamp] of served.files) {
      const stats = statsOf(served.siteDirectory, path)
      if (stats && stampOf(stats) === stamp) continue
      changed.push(path)
      served.files.delete(path)
      this.#count--
    }
    if (changed.length > 0) this.#options.onChanged(siteId, changed.length > MOST_PATHS ? 'all' : changed)
  }
}

const stampOf = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs} ${size} ${ino}`

/** Of the file that an address of the site names; nothing of it is read. */
function statsOf(siteDirectory: string, path: string): Stats | undefined {
  try {
    return lstatSync(join(siteDirectory, 'web', decodeURIComponent(path)), { throwIfNoEntry: false })
  } catch {
    // a name that is none
    return undefined
  }
}
