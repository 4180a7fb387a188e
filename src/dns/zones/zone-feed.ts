import { createCatalog } from './catalog.ts'
import { createZone, type ServedZone, type ZoneOptions } from './zone.ts'
import { ZoneSet } from './zone-set.ts'
import type { ChangedZone, Position } from './zones.store.ts'

export interface ZoneFeedOptions extends ZoneOptions {
  /** Returns the position of the changes. Rejects when the database is unavailable. */
  readonly newest: () => Promise<Position>
  /** Called when an older copy of the database was restored. */
  readonly renew?: () => Promise<void>
  /** Calls back with the changes after a number, in order. */
  readonly read: (seq: number, take: (zone: ChangedZone) => void) => Promise<void>
  /**
   * Calls back when something may have changed, and returns a function that stops this. Without it, the feed only
   * polls.
   */
  readonly onChange?: (callback: () => void) => () => void
  readonly onError: (error: unknown) => void
  /** Called for every new or changed zone, and for the catalog. */
  readonly onZone?: (zone: ServedZone) => void
  /** The name of the catalog zone, if any. */
  readonly catalog?: string | undefined
  readonly pollMs?: number
}

/** All zones, as they were in the database a moment ago, or when it was last available. */
export class ZoneFeed {
  readonly #options: ZoneFeedOptions
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: (() => void) | undefined
  readonly #ids = new Map<string, number>()
  readonly zones = new ZoneSet()
  #position: Position | undefined
  #catalog: ServedZone | undefined
  #looking: Promise<void> | undefined
  #again = false

  constructor(options: ZoneFeedOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), options.pollMs ?? 500)
    this.#timer.unref()
    this.#unsubscribe = options.onChange?.(() => this.#look())
  }

  get catalog(): ServedZone | undefined {
    return this.#catalog
  }

  /** Checks for changes now. Rejects when the database is unavailable. */
  async refresh(): Promise<void> {
    await this.#looking?.catch(() => {})
    this.#looking = this.#take().finally(() => {
      this.#looking = undefined
    })
    await this.#looking
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#unsubscribe?.()
    await this.#looking?.catch(() => {})
  }

  /** Checks for changes. A check in progress may have been too early for this notification, so another one follows. */
  #look(): void {
    if (this.#looking) {
      this.#again = true
      return
    }
    this.#again = false
    this.refresh()
      .catch(this.#options.onError)
      .then(() => {
        if (this.#again) this.#look()
      })
  }

  async #take(): Promise<void> {
    const { newest, read, renew, catalog } = this.#options
    const known = this.#position
    let now = await newest()
    const isSame = now.seq === known?.seq && now.generation === known.generation
    if (isSame && (this.#catalog || catalog === undefined)) return
    if (known && renew && (now.seq < known.seq || now.generation < known.generation)) {
      await renew()
      now = await newest()
    }
    // In a restored database, the known zones may never have existed.
    const isOther = known !== undefined && (now.seq < known.seq || now.generation !== known.generation)
    const before = new Map(this.#ids)
    const seen = new Set<string>()
    let { seq } = now
    await read(isOther ? 0 : (known?.seq ?? 0), (change) => {
      this.#apply(change)
      seen.add(change.name)
      seq = Math.max(seq, change.changeSeq)
    })
    if (isOther) for (const name of before.keys()) if (!seen.has(name)) this.#remove(name)
    this.#position = { ...now, seq }
    this.#renewCatalog(before, isOther)
  }

  #apply({ id, name, data }: ChangedZone): void {
    const { onZone, onError } = this.#options
    try {
      if (data) {
        const zone = createZone(data, this.#options)
        this.zones.put(zone)
        this.#ids.set(name, id)
        onZone?.(zone)
      } else if (this.#ids.get(name) === id) this.#remove(name)
    } catch (error) {
      // The other zones are served anyway.
      onError(error)
    }
  }

  #remove(name: string): void {
    this.zones.remove(name)
    this.#ids.delete(name)
  }

  /** Renews the catalog only when the list of zones changed, because each change makes secondaries read all of it. */
  #renewCatalog(before: ReadonlyMap<string, number>, isOther: boolean): void {
    const { catalog, onZone } = this.#options
    if (catalog === undefined) return
    const isSame = before.size === this.#ids.size && [...before].every(([name, id]) => this.#ids.get(name) === id)
    if (this.#catalog && isSame && !isOther) return
    this.#catalog = createCatalog(catalog, (this.#position?.seq ?? 0) >>> 0, this.#ids)
    onZone?.(this.#catalog)
  }
}
