import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

/** Where PHP writes files that visitors read. */
const WRITTEN = /^\/wp-content\/[\x21-\x7e]{1,500}$/
/** The limits for one site, and for all sites together: about 200 bytes each. */
const MOST_OF_SITE = 500
const MOST = 20_000
/** The most paths in one purge. With more, all files of the site are purged. */
const MOST_PATHS = 100
/** The shortest time between two checks of one site: after a request that may write, and after a page for a visitor. */
const PAUSE_MS = { write: 2_000, read: 30_000 } as const

export interface ServedFilesOptions {
  /** Purges files of a site from the edges: these paths, or all. */
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
 * Files that were served to edges, which keep them for a day, and that PHP may rewrite: style sheets that a plugin
 * generates, pictures that are replaced. After PHP has run, their times and sizes are checked. It remembers the last
 * several hundred of a site. Forgotten files stay at edges until they expire.
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

  /** Remembers a file that was served to an edge. @param path as visitors request it, without its query */
  note(
    { siteId, siteDirectory }: { readonly siteId: number; readonly siteDirectory: string },
    path: string,
    stats: Stats,
  ): void {
    if (!WRITTEN.test(path)) return
    const there = statsOf(siteDirectory, path)
    // Rewrite rules have led to another file.
    if (there?.ino !== stats.ino) return
    let served = this.#sites.get(siteId)
    if (served?.siteDirectory !== siteDirectory) {
      served = { siteDirectory, files: new Map(), lookedMs: Number.NEGATIVE_INFINITY, timer: undefined }
      this.#sites.set(siteId, served)
    }
    const { files } = served
    const stamp = stampOf(stats)
    const before = files.get(path)
    // An edge may still have the file as it was, at the same path with another query.
    if (before !== undefined && before !== stamp) this.#options.onChanged(siteId, [path])
    if (!files.delete(path)) this.#count++
    files.set(path, stamp)
    const oldest = files.keys().next().value
    if (files.size > MOST_OF_SITE && oldest !== undefined && files.delete(oldest)) this.#count--
    while (this.#count > MOST && this.#sites.size > 1) this.#sites.pop()
  }

  /** Checks the served files of a site soon, because its PHP has run. */
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

/** Returns the stats of the file at an address of the site, without reading the file. */
function statsOf(siteDirectory: string, path: string): Stats | undefined {
  try {
    return lstatSync(join(siteDirectory, 'web', decodeURIComponent(path)), { throwIfNoEntry: false })
  } catch {
    // The name is invalid.
    return undefined
  }
}
