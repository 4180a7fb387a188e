import type { Entry } from './entry.ts'

/** The place of an entry in an order of use. */
export interface Place {
  readonly entry: Entry
  /** Undefined while it is in no order. */
  list: List | undefined
  newer: Place | undefined
  older: Place | undefined
}

export const newPlace = (entry: Entry): Place => ({ entry, list: undefined, newer: undefined, older: undefined })

class List {
  newest: Place | undefined
  oldest: Place | undefined
  bytes = 0

  push(place: Place): void {
    place.list = this
    place.older = this.newest
    if (this.newest) this.newest.newer = place
    this.newest = place
    this.oldest ??= place
    this.bytes += place.entry.bytes
  }

  remove(place: Place): void {
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
export class UseOrder {
  readonly #fresh = new List()
  readonly #used = new List()

  get bytes(): number {
    return this.#fresh.bytes + this.#used.bytes
  }

  add(place: Place): void {
    this.#fresh.push(place)
  }

  /** Marks the entry as used, so that it is dropped last. */
  use(place: Place): void {
    if (place === this.#used.newest) return
    place.list?.remove(place)
    this.#used.push(place)
  }

  remove(place: Place): void {
    place.list?.remove(place)
  }

  /** Records that the entry of a place has grown. */
  grow(place: Place, by: number): void {
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
