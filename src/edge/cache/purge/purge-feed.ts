/** One purge, as stored in the database. */
export interface Purge {
  /** Ascending without gaps, in the order of commits. */
  readonly seq: number
  readonly siteId: number
  /** All pages of lower epochs are dead. Null means that it does not concern all pages. */
  readonly pageEpoch: number | null
  /** The same for files. */
  readonly fileEpoch: number | null
  /** Paths (see `isPurgedBy`) of single pages. */
  readonly paths: readonly string[]
}

/** The purges committed after a sequence number, as far as they are retained. */
export interface PurgesSince {
  /** The newest sequence number. */
  readonly newest: number
  /** In order. */
  readonly purges: readonly Purge[]
}

export interface PurgeFeedOptions {
  /**
   * Returns the purges after a sequence number, or with undefined only the newest number. Rejects when the database is
   * unavailable.
   */
  readonly since: (seq: number | undefined) => Promise<PurgesSince>
  /**
   * Calls back when something may have been committed. Returns a function that unsubscribes. Without it, the feed only
   * polls.
   */
  readonly onChange?: (callback: () => void) => () => void
  readonly onError?: (error: unknown) => void
  readonly pollMs?: number
  /** Older knowledge is not relied on. */
  readonly currentMs?: number
}

/** What an edge process knows about purges. */
export interface PurgeFeed {
  /**
   * Returns whether every purge that was committed more than a moment ago is known. False when the database is
   * unreachable. Stored pages may then be outdated, so the cache must ask the host.
   */
  isCurrent(): boolean
  /** The known position in the order of purges. Undefined before the first look. */
  readonly position: number | undefined
  /** Returns the lowest live epoch of the site's pages or files, as far as purges have told. */
  floorOf(siteId: number, tier: 'page' | 'file'): number
  /** Calls the listener after each purge counts, and with undefined when some were missed and everything must go. */
  subscribe(listener: (purge: Purge | undefined) => void): void
  /** Resolves when the purge with this number counts here, or after `patienceMs`. */
  reach(seq: number, patienceMs?: number): Promise<void>
  refresh(): Promise<void>
  close(): void
}

/**
 * Follows the purges of all sites. A purge counts within milliseconds of its commit (notification), or within `pollMs`
 * when the notification is lost. `isCurrent` turns false when the database is unreadable for `currentMs`.
 */
export function createPurgeFeed(options: PurgeFeedOptions): PurgeFeed {
  const { since, onError = () => {}, pollMs = 1_000, currentMs = 5_000 } = options
  const floors = { page: new Map<number, number>(), file: new Map<number, number>() }
  const listeners: ((purge: Purge | undefined) => void)[] = []
  let position: number | undefined
  let knownAtMs = Number.NEGATIVE_INFINITY
  const waiting = new Set<() => void>()

  const raise = (tier: 'page' | 'file', siteId: number, epoch: number | null) => {
    if (epoch !== null && epoch > (floors[tier].get(siteId) ?? 0)) floors[tier].set(siteId, epoch)
  }
  const look = async () => {
    const startedAtMs = performance.now()
    const { newest, purges } = await since(position)
    if (position !== undefined && newest > position) apply(position, newest, purges)
    else if (position !== undefined && newest < position) startOver()
    position = newest
    knownAtMs = startedAtMs
    for (const check of [...waiting]) check()
  }
  /** The database is an older copy than before, so what was learned from the newer one means nothing. */
  const startOver = () => {
    floors.page.clear()
    floors.file.clear()
    for (const listener of listeners) listener(undefined)
  }
  const apply = (from: number, newest: number, purges: readonly Purge[]) => {
    for (const purge of purges) {
      raise('page', purge.siteId, purge.pageEpoch)
      raise('file', purge.siteId, purge.fileEpoch)
    }
    // Old purges are deleted, so an edge that slept longer cannot know what they were.
    const isWhole = purges[0]?.seq === from + 1 && (purges.at(-1)?.seq ?? 0) >= newest
    for (const listener of listeners) {
      if (!isWhole) listener(undefined)
      else for (const purge of purges) listener(purge)
    }
  }
  const refresh = oneAtATime(look)
  const tick = () => void refresh().catch(onError)
  const timer = setInterval(tick, pollMs)
  timer.unref()
  const unsubscribe = options.onChange?.(tick)
  tick()
  return {
    isCurrent: () => performance.now() - knownAtMs < currentMs,
    get position() {
      return position
    },
    floorOf: (siteId, tier) => floors[tier].get(siteId) ?? 0,
    subscribe: (listener) => void listeners.push(listener),
    reach(seq, patienceMs = 1_000) {
      if (position !== undefined && position >= seq) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(late)
          waiting.delete(check)
          resolve()
        }
        const check = () => {
          if (position !== undefined && position >= seq) done()
        }
        const late = setTimeout(done, patienceMs)
        waiting.add(check)
        tick()
      })
    },
    refresh,
    close() {
      clearInterval(timer)
      unsubscribe?.()
    },
  }
}

/**
 * Runs one look at a time. A look in progress may have read before the announced change, so one more follows for all
 * callers.
 */
function oneAtATime(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let again: Promise<void> | undefined
  const start = () => {
    running = look().finally(() => {
      running = undefined
    })
    return running
  }
  return () => {
    if (!running) return start()
    again ??= running
      .catch(() => {})
      .then(() => {
        again = undefined
        return start()
      })
    return again
  }
}
