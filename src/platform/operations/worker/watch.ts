import type { Database } from '../../db/database.ts'
import { getOperations, type OperationView } from '../read.ts'

/**
 * The polling interval of a watch. Not every change is announced, because a notification takes a lock on PostgreSQL.
 */
const LOOK_EVERY_MS = 250
/** The shortest pause between reads, however busy the database is. */
const LEAST_PAUSE_MS = 50
/** How many operations one statement reads. */
const AT_ONCE = 200

/** Called with each new state of an operation; `undefined` if the operation does not exist, or was deleted. */
export type OperationListener = (view: OperationView | undefined) => void

/** Follows operations. All watchers share one read of the database, and get the same object. */
export interface OperationWatch {
  /**
   * Calls the listener with the current state of an operation, then with each change. The last call has its end, or
   * reports that it does not exist.
   * @returns a function that stops watching
   */
  watch(id: number, listener: OperationListener): () => void
  /**
   * Does the same as an iteration.
   * @param signal ends it early
   */
  follow(id: number, signal?: AbortSignal): AsyncGenerator<OperationView, void, void>
  close(): void
}

interface Watched {
  readonly listeners: Set<OperationListener>
  view?: OperationView
  /** The view as text, for comparison. */
  text?: string
}

export function createOperationWatch(database: Database): OperationWatch {
  const looks = new OperationPoller(database)
  return {
    watch: (id, listener) => looks.add(id, listener),
    follow: (id, signal) => follow(looks, id, signal),
    close: () => looks.close(),
  }
}

class OperationPoller {
  readonly #database: Database
  readonly #watched = new Map<number, Watched>()
  #timer: NodeJS.Timeout | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #isLooking = false
  /** Whether a read was requested, or a change announced, during a look. */
  #isAwaited = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #version: number | undefined
  #endNotices: (() => void) | undefined

  constructor(database: Database) {
    this.#database = database
  }

  add(id: number, listener: OperationListener): () => void {
    this.#endNotices ??= this.#database.changes.subscribe('operations', () => this.#wake(this.#pause()))
    const watched = this.#watched.get(id) ?? { listeners: new Set() }
    this.#watched.set(id, watched)
    watched.listeners.add(listener)
    const { view } = watched
    if (view) queueMicrotask(() => watched.listeners.has(listener) && listener(view))
    else this.#wake(0)
    return () => {
      watched.listeners.delete(listener)
      if (watched.listeners.size === 0 && this.#watched.get(id) === watched) this.#drop(id)
    }
  }

  close(): void {
    this.#watched.clear()
    this.#rest()
  }

  #drop(id: number): void {
    this.#watched.delete(id)
    if (this.#watched.size === 0) this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#endNotices?.()
    this.#endNotices = undefined
  }

  #pause(): number {
    return Math.max(0, this.#lookedAt + LEAST_PAUSE_MS - performance.now())
  }

  #wake(inMs: number): void {
    const at = performance.now() + inMs
    if (at >= this.#dueAt) return
    this.#dueAt = at
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), inMs)
  }

  async #look(): Promise<void> {
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#isAwaited = this.#isLooking
    if (this.#isLooking) return
    this.#isLooking = true
    let next = LOOK_EVERY_MS
    try {
      if (this.#pause() === 0) await this.#lookAtAll()
      else await this.#lookAt(this.#fresh())
      if (this.#isAwaited || this.#pause() === 0) next = LEAST_PAUSE_MS
    } catch {
      // The database is unreachable. A later look may succeed.
    } finally {
      this.#isLooking = false
      if (this.#watched.size > 0) this.#wake(next)
    }
  }

  /** Returns operations whose state is not known yet. */
  #fresh(): number[] {
    return [...this.#watched].flatMap(([id, { view }]) => (view ? [] : id))
  }

  async #lookAtAll(): Promise<void> {
    const { dialect, changes } = this.#database
    // SQLite shows reliably that nothing was committed. The version is read first, so that the next look sees changes
    // in the meantime.
    const version = dialect === 'sqlite' ? changes.version('operations') : undefined
    const isSame = version !== undefined && version === this.#version
    await this.#lookAt(isSame ? this.#fresh() : [...this.#watched.keys()])
    this.#version = version
    this.#lookedAt = performance.now()
  }

  async #lookAt(ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const some = ids.slice(from, from + AT_ONCE)
      const asked = some.map((id) => this.#watched.get(id))
      const found = new Map((await getOperations(this.#database.read, some)).map((view) => [view.id, view]))
      // A watcher that was added since then must only see states read after that.
      for (const [index, id] of some.entries())
        if (asked[index] && this.#watched.get(id) === asked[index]) this.#tell(id, asked[index], found.get(id))
    }
  }

  #tell(id: number, watched: Watched, view: OperationView | undefined): void {
    const text = view && JSON.stringify(view)
    if (view && text === watched.text) return
    Object.assign(watched, { view, text })
    const listeners = [...watched.listeners]
    if (!view || view.finishedAt !== null) this.#drop(id)
    for (const listener of listeners) listener(view)
  }
}

async function* follow(
  looks: OperationPoller,
  id: number,
  signal?: AbortSignal,
): AsyncGenerator<OperationView, void, void> {
  let news = Promise.withResolvers<void>()
  let newest: OperationView | undefined
  let isGone = false
  const end = looks.add(id, (view) => {
    newest = view
    isGone = view === undefined
    news.resolve()
  })
  const wake = () => news.resolve()
  signal?.addEventListener('abort', wake)
  try {
    for (;;) {
      if (!signal?.aborted) await news.promise
      if (signal?.aborted || isGone || !newest) return
      const view = newest
      news = Promise.withResolvers()
      yield view
      if (view.finishedAt !== null) return
    }
  } finally {
    end()
    signal?.removeEventListener('abort', wake)
  }
}
