import type { Database } from '../../platform/db/database.ts'
import { Poller } from '../../platform/db/poller.ts'
import type { EventStream } from '../../platform/http/event-streams.ts'
import { type EventView, payloadOf, readEvents } from './event.store.ts'
import { newestSeq } from './webhook.store.ts'

const LOOK_EVERY_MS = 1000
const LEAST_PAUSE_MS = 50
/** Events per message. */
const AT_ONCE = 100

/** Filter of a stream. */
export interface FeedFilter {
  readonly accountId: number
  readonly types?: readonly string[] | undefined
  readonly siteId?: number | undefined
}

/** Tells all streams of a process that there are new events. One poll of the database serves them all. */
export class EventFeed {
  readonly #database: Database
  readonly #listeners = new Set<() => void>()
  readonly #looks: Poller
  #newest = -1

  constructor(database: Database) {
    this.#database = database
    this.#looks = new Poller({
      ...{ changes: database.changes, topic: 'events', everyMs: LOOK_EVERY_MS, leastPauseMs: LEAST_PAUSE_MS },
      look: () => this.#look(),
    })
  }

  /**
   * Sends a stream the events after `after`, each once and in order, as fast as its client reads them.
   * @returns a function that stops it
   */
  follow(stream: EventStream, filter: FeedFilter, after: number): () => void {
    let cursor = after
    let isTaken = false
    let isReading = false
    let isAwaited = false
    const pump = async () => {
      isAwaited = isReading
      if (isReading || !isTaken) return
      isReading = true
      try {
        const newest = await newestSeq(this.#database.read)
        const events = await readEvents(this.#database.read, { ...filter, after: cursor, limit: AT_ONCE })
        const last = events.at(-1)?.seq ?? cursor
        // Numbers become visible in order, so nothing is missing up to the newest.
        cursor = events.length < AT_ONCE ? Math.max(last, newest) : last
        if (events.length > 0) {
          isTaken = false
          stream.send(events.map(messageOf).join(''))
        }
      } catch {
        // The database cannot be reached. The next poll may succeed.
      } finally {
        isReading = false
      }
      if (isAwaited) void pump()
    }
    this.#add(pump)
    stream.whenTaken(() => {
      isTaken = true
      void pump()
    })
    return () => this.#remove(pump)
  }

  close(): void {
    this.#listeners.clear()
    this.#looks.end()
  }

  #add(listener: () => void): void {
    this.#listeners.add(listener)
    this.#looks.begin(LOOK_EVERY_MS)
  }

  #remove(listener: () => void): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.#looks.end()
  }

  async #look(): Promise<void> {
    const newest = await newestSeq(this.#database.read)
    if (newest === this.#newest) return
    this.#newest = newest
    for (const listener of this.#listeners) listener()
  }
}

const messageOf = (event: EventView): string =>
  `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(payloadOf(event))}\n\n`
