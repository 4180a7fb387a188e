import type { Database } from '../../platform/db/database.ts'
import { Poller } from '../../platform/db/poller.ts'
import type { EventStream } from '../../platform/http/event-streams.ts'
import { stillAllowed } from '../access/still-allowed.ts'
import { entriesBehind, newestEntry, type PlacedEntry } from './activity.store.ts'
import { presentEntry } from './activity-entry.ts'

/** Not every change sends a notification. */
const LOOK_EVERY_MS = 1000
const LEAST_PAUSE_MS = 100
/** On PostgreSQL, an entry can become visible after one with a higher number. The feed looks for it this long. */
const LATE_MS = 10_000
/** Limit for each poll, and for what waits for a slow client. */
const MOST_AT_ONCE = 500

interface Follower {
  readonly accountId: number
  readonly stream: EventStream
  waiting: string[]
  hasMissed: boolean
  isTaken: boolean
}

/**
 * Sends new activity log entries to the streams of a process: to each account those of its own log, and of sites that
 * it collaborates on. One poll of the database serves them all.
 */
export class ActivityFeed {
  readonly #database: Database
  readonly #followers = new Set<Follower>()
  /** Numbers that were sent, with the time. All up to `#floor` were sent. */
  readonly #told = new Map<number, number>()
  #floor = 0
  readonly #looks: Poller

  constructor(database: Database) {
    this.#database = database
    this.#looks = new Poller({
      ...{ changes: database.changes, topic: 'events', everyMs: LOOK_EVERY_MS, leastPauseMs: LEAST_PAUSE_MS },
      look: () => this.#look(),
    })
  }

  /**
   * Sends entries to a stream.
   * @param after the last entry that the client has seen. Later ones are sent first
   * @returns a function that stops it
   */
  follow(stream: EventStream, accountId: number, after: number): () => void {
    const follower: Follower = { accountId, stream, waiting: [], hasMissed: false, isTaken: false }
    stream.whenTaken(() => {
      follower.isTaken = true
      flush(follower)
    })
    void this.#begin(follower, after)
    return () => {
      this.#followers.delete(follower)
      if (this.#followers.size > 0) return
      this.#looks.end()
      this.#told.clear()
    }
  }

  async #begin(follower: Follower, after: number): Promise<void> {
    const isFirst = this.#followers.size === 0
    this.#followers.add(follower)
    if (isFirst) {
      this.#floor = after
      return this.#looks.begin(0)
    }
    try {
      const entries = await entriesBehind(this.#database.read, after, MOST_AT_ONCE)
      if (entries.length === MOST_AT_ONCE) follower.hasMissed = true
      await this.#tell(entries, [follower])
    } catch {
      follower.hasMissed = true
    }
    flush(follower)
  }

  async #look(): Promise<void> {
    const { read } = this.#database
    const now = performance.now()
    const found = await entriesBehind(read, this.#floor, MOST_AT_ONCE)
    const fresh = found.filter(({ id }) => !this.#told.has(id))
    for (const { id } of fresh) this.#told.set(id, now)
    // There are more than one poll reads, so the clients reload everything.
    if (found.length === MOST_AT_ONCE) {
      for (const follower of this.#followers) follower.hasMissed = true
      this.#floor = Math.max(this.#floor, await newestEntry(read))
    }
    for (const [id, at] of this.#told)
      if (id <= this.#floor || now - at > LATE_MS) {
        this.#floor = Math.max(this.#floor, id)
        this.#told.delete(id)
      }
    await this.#tell(fresh, [...this.#followers])
    for (const follower of this.#followers) flush(follower)
  }

  async #tell(entries: readonly PlacedEntry[], followers: readonly Follower[]): Promise<void> {
    if (entries.length === 0) return
    const accountIds = [...new Set(followers.map(({ accountId }) => accountId))]
    const siteIds = [...new Set(entries.flatMap(({ siteId }) => siteId ?? []))]
    const claims = accountIds.flatMap((accountId) =>
      siteIds.map((siteId) => ({ accountId, siteId, capability: 'read the site' }) as const),
    )
    const allowed = await stillAllowed(this.#database.read, claims)
    const shared = new Set(
      claims.filter((_, at) => allowed[at]).map(({ accountId, siteId }) => `${accountId} ${siteId}`),
    )
    for (const entry of entries) {
      const message = messageOf(entry)
      for (const follower of followers) {
        if (entry.accountId !== follower.accountId && !shared.has(`${follower.accountId} ${entry.siteId}`)) continue
        if (follower.waiting.length < MOST_AT_ONCE) follower.waiting.push(message)
        else follower.hasMissed = true
      }
    }
  }
}

function flush(follower: Follower): void {
  if (!follower.isTaken || (follower.waiting.length === 0 && !follower.hasMissed)) return
  follower.isTaken = false
  const missed = follower.hasMissed ? 'event: missed\ndata: {}\n\n' : ''
  follower.stream.send(missed + follower.waiting.join(''))
  follower.waiting = []
  follower.hasMissed = false
}

const messageOf = (entry: PlacedEntry): string => {
  const { id, accountId: account_id, siteId: site_id } = entry
  return `id: ${id}\nevent: activity\ndata: ${JSON.stringify({ ...presentEntry(entry), account_id, site_id })}\n\n`
}
