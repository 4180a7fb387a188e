import { parentName } from '../wire/name.ts'
import type { ServedZone } from './zone.ts'

/** The zones that a server answers for. */
export class ZoneSet {
  readonly #zones = new Map<string, ServedZone>()

  /** Changes whenever a zone does. */
  version = 0

  get size(): number {
    return this.#zones.size
  }

  get(name: string): ServedZone | undefined {
    return this.#zones.get(name)
  }

  put(zone: ServedZone): void {
    this.#zones.set(zone.name, zone)
    this.version++
  }

  remove(name: string): void {
    this.#zones.delete(name)
    this.version++
  }

  values(): IterableIterator<ServedZone> {
    return this.#zones.values()
  }

  /** Returns the zone that contains a name: the longest, if one is below another. */
  find(name: string): ServedZone | undefined {
    for (let rest = name; ; rest = parentName(rest)) {
      const zone = this.#zones.get(rest)
      if (zone || rest === '') return zone
    }
  }
}
