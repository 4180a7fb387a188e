/**
 * The `.htaccess` files of the sites of a host, read when a folder is requested, and kept until they change.
 *
 * Edges cache the answers of a site, so they would still serve a file that becomes protected. Therefore, this class
 * remembers the folders that answers depended on, and checks them. When a file was added, removed, or changed, it tells
 * edges to purge everything of the site. The list is stored on disk as well, because edges outlive the host's process.
 */
import { appendFileSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { lookInside } from '../site-files/open-inside.ts'
import type { Level } from './asked.ts'
import { parseHtaccess } from './parse-htaccess.ts'
import type { StepsLeft } from './pattern.ts'
import { newSection, type Rules } from './rules.ts'

export interface RuledSite {
  readonly siteId: number
  /** The folder that contains `web/`. */
  readonly siteDirectory: string
}

export interface FoldersOptions {
  /** Called when the site's rules have changed, so that cached answers of edges may be wrong. */
  readonly changed: (siteId: number) => void
  /**
   * Called for a line that is not understood, or a file that cannot be read.
   * @param file the path from the web root
   */
  readonly told: (siteId: number, file: string, line: number, what: string) => void
  /** A file that remembers the requested folders, if any. */
  readonly memory?: string
  readonly log: { warn(facts: object, message: string): void }
  readonly limits?: Partial<FolderLimits>
}

export interface FolderLimits {
  /** The most watched folders of a site. Edges must not cache files in further ones. */
  readonly foldersOfSite: number
  readonly folders: number
  readonly checkEveryMs: number
  /** The most folders that one check for changes covers. */
  readonly foldersOfPass: number
}

const usual: FolderLimits = { foldersOfSite: 2_000, folders: 50_000, checkEveryMs: 1_000, foldersOfPass: 2_000 }

/** The largest file that is read. A larger one closes its folder. */
export const MOST_HTACCESS_BYTES = 256 << 10
/** The limit for all rules in memory. */
const MOST_KEPT_BYTES = 32 << 20
/** The work of its site that reading one byte costs. */
const WORK_OF_BYTE = 40
const ABSENT = '-'

interface Folder {
  readonly siteId: number
  readonly siteDirectory: string
  readonly name: string
  /** A value that differs for each state of its `.htaccess`. */
  print: string
  checkedMs: number
}

/** The rules on the way to a path. */
export interface Levels {
  /** Folders with a `.htaccess`, the innermost last. */
  readonly levels: readonly Level[]
  /** Whether changes of some folder would go unnoticed, so that edges must not cache the answer. */
  readonly isUnwatched: boolean
}

export class Folders {
  readonly #options: FoldersOptions
  readonly #limits: FolderLimits
  readonly #sites = new Map<number, Map<string, Folder>>()
  /** All folders, in the order in which they are checked. */
  readonly #all = new Set<Folder>()
  readonly #rules = new LRUCache<string, Rules>({ maxSize: MOST_KEPT_BYTES, sizeCalculation: ({ bytes }) => bytes })
  #timer: NodeJS.Timeout | undefined
  #lines = 0

  constructor(options: FoldersOptions) {
    this.#options = options
    this.#limits = { ...usual, ...options.limits }
    this.#recall()
  }

  start(): void {
    this.#timer ??= setInterval(() => this.look(), this.#limits.checkEveryMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /**
   * @param parts the parts of the requested path, whose existing folders count
   * @param reading the work budget that reading consumes
   */
  levelsOf(site: RuledSite, parts: readonly string[], reading: StepsLeft): Levels {
    const levels: Level[] = []
    let isUnwatched = false
    let name = ''
    for (let depth = 0; depth <= parts.length; depth++) {
      if (depth > 0) name += `${parts[depth - 1]}/`
      const folder = this.#folder(site, name)
      if (!folder) break
      isUnwatched ||= !this.#all.has(folder)
      const rules = this.#rulesOf(folder, reading)
      if (rules) levels.push({ folder: name, rules })
    }
    return { levels, isUnwatched }
  }

  /** Checks some of the folders. Called periodically. */
  look(): void {
    let left = Math.min(this.#limits.foldersOfPass, this.#all.size)
    const changed = new Set<number>()
    for (const folder of this.#all) {
      if (left-- <= 0) break
      // Moves it to the end of the queue.
      this.#all.delete(folder)
      if (folder.name === '' && !isThere(folder.siteDirectory)) {
        this.#forget(folder.siteId)
        continue
      }
      this.#all.add(folder)
      if (this.#refresh(folder, performance.now())) changed.add(folder.siteId)
    }
    for (const siteId of changed) this.#options.changed(siteId)
  }

  #forget(siteId: number): void {
    for (const folder of this.#sites.get(siteId)?.values() ?? []) this.#all.delete(folder)
    this.#sites.delete(siteId)
  }

  /** @returns undefined when the folder does not exist */
  #folder({ siteId, siteDirectory }: RuledSite, name: string): Folder | undefined {
    let folders = this.#sites.get(siteId)
    const nowMs = performance.now()
    const known = folders?.get(name)
    if (known?.siteDirectory === siteDirectory) {
      if (nowMs - known.checkedMs >= this.#limits.checkEveryMs && this.#refresh(known, nowMs))
        this.#options.changed(siteId)
      return known
    }
    if (known) {
      // The site has moved to another directory.
      this.#forget(siteId)
      this.#options.changed(siteId)
      folders = undefined
    }
    const found = lookInside(siteDirectory, name === '' ? 'web' : `web/${name.slice(0, -1)}`)
    found?.close()
    if (found?.kind !== 'directory') return undefined
    const folder: Folder = { siteId, siteDirectory, name, print: printOf(siteDirectory, name), checkedMs: nowMs }
    folders ??= new Map()
    this.#sites.set(siteId, folders)
    const { foldersOfSite, folders: most } = this.#limits
    if (folders.size < foldersOfSite && this.#all.size < most && this.#remember(folder)) {
      folders.set(name, folder)
      this.#all.add(folder)
    }
    return folder
  }

  /** @returns whether its file has changed */
  #refresh(folder: Folder, nowMs: number): boolean {
    const print = printOf(folder.siteDirectory, folder.name)
    folder.checkedMs = nowMs
    if (print === folder.print) return false
    folder.print = print
    this.#remember(folder)
    return true
  }

  #rulesOf(folder: Folder, reading: StepsLeft): Rules | undefined {
    if (folder.print === ABSENT) return undefined
    const key = `${folder.siteDirectory}/${folder.name}\0${folder.print}`
    const kept = this.#rules.get(key)
    if (kept) return kept
    const rules = this.#read(folder, reading)
    this.#rules.set(key, rules)
    const file = `${folder.name}.htaccess`
    for (const { line, what } of rules.notUnderstood) this.#options.told(folder.siteId, file, line, what)
    return rules
  }

  #read({ siteDirectory, name }: Folder, reading: StepsLeft): Rules {
    const found = lookInside(siteDirectory, `web/${name}.htaccess`)
    if (!found) return closed('it cannot be read; links are not followed')
    try {
      if (found.kind !== 'file') return closed('it is not a file')
      if (found.stats.size > MOST_HTACCESS_BYTES) return closed(`it is larger than ${MOST_HTACCESS_BYTES} bytes`)
      reading.left -= found.stats.size * WORK_OF_BYTE
      return parseHtaccess(found.read(0, found.stats.size).toString('utf8'), name === '')
    } catch {
      return closed('it cannot be read')
    } finally {
      found.close()
    }
  }

  #remember({ siteId, siteDirectory, name, print }: Folder): boolean {
    const { memory, log } = this.#options
    if (memory === undefined) return true
    try {
      if (++this.#lines > 4 * this.#limits.folders) this.#rewrite(memory)
      appendFileSync(memory, `${JSON.stringify([siteId, siteDirectory, name, print])}\n`)
      return true
    } catch (error) {
      log.warn({ err: error }, 'could not save the folders with rules of sites')
      return false
    }
  }

  #recall(): void {
    const { memory } = this.#options
    if (memory === undefined) return
    let text = ''
    try {
      text = readFileSync(memory, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    for (const line of text.split('\n')) {
      const [siteId, siteDirectory, name, print] = readLine(line)
      if (siteId === undefined || siteDirectory === undefined || name === undefined || print === undefined) continue
      const folders = this.#sites.get(siteId) ?? new Map<string, Folder>()
      this.#sites.set(siteId, folders)
      const before = folders.get(name)
      if (before) this.#all.delete(before)
      const folder: Folder = { siteId, siteDirectory, name, print, checkedMs: Number.NEGATIVE_INFINITY }
      folders.set(name, folder)
      this.#all.add(folder)
    }
    this.#rewrite(memory)
  }

  #rewrite(memory: string): void {
    const lines = [...this.#all].map(({ siteId, siteDirectory, name, print }) =>
      JSON.stringify([siteId, siteDirectory, name, print]),
    )
    writeFileSync(memory, lines.map((line) => `${line}\n`).join(''), { mode: 0o600 })
    this.#lines = lines.length
  }
}

function readLine(line: string): [number?, string?, string?, string?] {
  try {
    return JSON.parse(line)
  } catch {
    // An incomplete line, because the process died while it wrote.
    return []
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

/** Makes one system call. A link on the way only shows that something has changed. */
function printOf(siteDirectory: string, name: string): string {
  try {
    const stats = lstatSync(join(siteDirectory, 'web', name, '.htaccess'), { throwIfNoEntry: false })
    return stats ? `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino}` : ABSENT
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOTDIR' || code === 'ENOENT' ? ABSENT : `${code}`
  }
}

const closed = (what: string): Rules => ({
  folder: { ...newSection(), isClosed: true },
  files: [],
  env: [],
  redirects: [],
  rewriting: undefined,
  notUnderstood: [{ line: 0, what }],
  isUsual: false,
  bytes: 1_000,
})
