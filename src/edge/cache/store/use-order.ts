/** What has a place in an order of use. */
interface Used {
  /** How much it takes now. */
  readonly bytes: number
}

/** The place of an entry in an order of use. */
export interface Place<Entry extends Used> {
  readonly entry: Entry
  /** Undefined while it is in no order. */
  list: List<Entry> | undefined
  newer: Place<Entry> | undefined
  older: Place<Entry> | undefined
}

export const newPlace = <Entry extends Used>(entry: Entry): Place<Entry> => ({
  entry,
  list: undefined,
  newer: undefined,
  older: undefined,
})

class List<Entry extends Used> {
  newest: Place<Entry> | undefined
  oldest: Place<Entry> | undefined
  bytes = 0

  push(place: Place<Entry>): void {
    place.list = this
    place.older = this.newest
    if (this.newest) this.newest.newer = place
    this.newest = place
    this.oldest ??= place
    this.bytes += place.entry.bytes
  }

  remove(place: Place<Entry>): void {
    if (place.newer) place.newer.older = place.older
    else this.newest = place.older
    if (place.older) place.older.newer = place.newer
    else this.oldest = place.newer
    place.list = undefined
    place.newer = undefined
    place.older = undefined
    this.bytes -= place.entry.bytes
  }
}

/** The share of all bytes that entries without a second request may take from the others. */
const NEW_ONES = 1 / 5

/**
 * Entries in the order of their use. Those that were never used again are kept apart and dropped first, so that a flood
 * of invented addresses evicts itself.
 */
export class UseOrder<Entry extends Used> {
  readonly #fresh = new List<Entry>()
  readonly #used = new List<Entry>()

  get bytes(): number {
    return this.#fresh.bytes + this.#used.bytes
  }

  add(place: Place<Entry>): void {
    this.#fresh.push(place)
  }

  /** Marks the entry as used, so that it is dropped last. */
  use(place: Place<Entry>): void {
    if (place === this.#used.newest) return
    place.list?.remove(place)
    this.#used.push(place)
  }

  remove(place: Place<Entry>): void {
    place.list?.remove(place)
  }

  /** Records that the entry of a place has grown. */
  grow(place: Place<Entry>, by: number): void {
    if (place.list) place.list.bytes += by
  }

  /** The first entry to drop. */
  get first(): Entry | undefined {
    const [fresh, used] = [this.#fresh, this.#used]
    // The newest has not had its chance yet.
    const isFlood = fresh.bytes > this.bytes * NEW_ONES && fresh.oldest !== fresh.newest
    return (isFlood ? fresh.oldest : (used.oldest ?? fresh.oldest))?.entry
  }
}
