import { parentOf } from '../wire/name.ts'
import type { Zone } from './zone.ts'

/** The zones that a server answers for. */
export class ZoneSet {
  readonly #zones = new Map<string, Zone>()

  /** Changes whenever a zone does. */
  version = 0

  get size(): number {
    return this.#zones.size
  }

  get(name: string): Zone | undefined {
    return this.#zones.get(name)
  }

  put(zone: Zone): void {
    this.#zones.set(zone.name, zone)
    this.version++
  }

  remove(name: string): void {
    this.#zones.delete(name)
    this.version++
  }

  values(): IterableIterator<Zone> {
    return this.#zones.values()
  }

  /** Returns the zone that contains a name: the longest, if one is below another. */
  find(name: string): Zone | undefined {
    for (let rest = name; ; rest = parentOf(rest)) {
      const zone = this.#zones.get(rest)
      if (zone || rest === '') return zone
    }
  }
}
