import type { Database } from '../platform/db/database.ts'
import { isAway } from '../platform/db/last-known.ts'
import { Poller } from '../platform/db/poller.ts'
import { flagsOfRow } from '../site-flags.ts'
import { type HostedRecord, hostedSite, hostedSites } from './host.store.ts'
import type { SiteDirectories } from './site-directories/site-directories.ts'
import type { HostedSite } from './web-server/hosted-site.ts'
import { HostStarting } from './web-server/web-server.ts'

/** The time a visitor waits for a host that starts. After that, the visitor must retry. */
const PATIENCE_MS = 10_000

/** The interval at which all records are read without a change, and the shortest pause between two reads. */
const READ_EVERY_MS = 60_000
const READ_PAUSE_MS = 5_000

/** The host that keeps the sites, and their directories. */
interface Place {
  readonly hostId: number
  readonly siteDirectories: SiteDirectories
}

export interface HostedSitesOptions {
  /** Returns whether an operation of this host holds the PHP of a site, whatever the records said last. */
  readonly isHeld?: (siteId: number) => boolean
  /** Keeps the rows of all sites for a start while the database is away. Never rejects. */
  readonly keep?: (sites: readonly HostedRecord[]) => Promise<unknown>
}

/**
 * The sites of a host, for its visitors, events, and logs. Edges may know the host's address before it knows its sites:
 * callers that need one wait until they are opened.
 */
export class HostedSites {
  readonly #database: Database
  readonly #opened = Promise.withResolvers<Place>()
  #place: Place | undefined
  /** Sites at a version of the routes. They are valid until a site changes. */
  readonly #known = new Map<number, { site: HostedSite; version: number }>()
  readonly #isHeld: (siteId: number) => boolean
  /** The last row of each site, for visitors while the database is away. */
  #last = new Map<number, HostedRecord>()
  /** Set until the sites are opened: their directories, for rows that were kept. */
  #kept: SiteDirectories | undefined
  readonly #keep: NonNullable<HostedSitesOptions['keep']>
  readonly #poller: Poller

  constructor(database: Database, { isHeld = () => false, keep = async () => {} }: HostedSitesOptions = {}) {
    this.#database = database
    this.#isHeld = isHeld
    this.#keep = keep
    this.#poller = new Poller({
      changes: database.changes,
      topic: 'routes',
      ...{ everyMs: READ_EVERY_MS, leastPauseMs: READ_PAUSE_MS },
      look: () => this.#readAll(),
    })
  }

  /**
   * Serves sites as they were kept, until they are opened. The database is not asked: it is away, or this process does
   * not know yet whether it still has the sites.
   */
  openKept(siteDirectories: SiteDirectories, sites: readonly HostedRecord[]): void {
    this.#kept = siteDirectories
    this.#last = new Map(sites.map((record) => [record.siteId, record]))
  }

  /**
   * Resolves when a start while the database is away would not serve a site. Call it when its PHP is held, before its
   * content changes.
   */
  async keepClosed(): Promise<void> {
    if (this.#database.dialect === 'postgres') await this.#keepAll()
  }

  async #keepAll(): Promise<void> {
    const closedIfHeld = (record: HostedRecord) => (this.#isHeld(record.siteId) ? { ...record, closed: 1 } : record)
    await this.#keep([...this.#last.values()].map(closedIfHeld))
  }

  /** Opens the sites, once the site directories match their records. */
  open(place: Place): void {
    this.#kept = undefined
    this.#place = place
    this.#opened.resolve(place)
    // SQLite is never away without this process.
    if (this.#database.dialect === 'postgres') this.#poller.begin(0)
  }

  close(): void {
    this.#poller.end()
  }

  /**
   * The same as {@link find}, for visitors: while the database is away, they get what was known last. A site that
   * an operation works on stays closed. No change of the records can take effect in the meantime.
   * @param place the number of the site directory that the edge knows. In another one, the site is not the same
   * @throws HostStarting, or the error of the database for a site of which nothing is known
   */
  async serve(siteId: number, place?: number): Promise<HostedSite | undefined> {
    if (this.#kept) return this.#serveLast(siteId, place, this.#kept, new HostStarting('the database is away'))
    try {
      const site = await this.find(siteId)
      if (!site || this.#isIn(siteId, place)) return site
      // The edge may know more than what was remembered here.
      this.#known.delete(siteId)
      const read = await this.find(siteId)
      return this.#isIn(siteId, place) ? read : undefined
    } catch (error) {
      if (!isAway(error) || !this.#place) throw error
      return this.#serveLast(siteId, place, this.#place.siteDirectories, error)
    }
  }

  /** @throws the error if nothing is known of the site */
  #serveLast(siteId: number, place: number | undefined, siteDirectories: SiteDirectories, error: unknown) {
    const record = this.#last.get(siteId)
    if (!record) throw error
    if (!this.#isIn(siteId, place)) return undefined
    const site = describe(record, siteDirectories)
    return this.#isHeld(siteId) ? { ...site, isClosed: true } : site
  }

  #isIn(siteId: number, place: number | undefined): boolean {
    return place === undefined || this.#last.get(siteId)?.directoryId === place
  }

  /**
   * @returns `undefined` for a site that is not on this host, or has no content yet
   * @throws HostStarting
   */
  async find(siteId: number): Promise<HostedSite | undefined> {
    const { hostId, siteDirectories } = this.#place ?? (await within(this.#opened.promise, PATIENCE_MS))
    const version = this.#database.changes.version('routes')
    const remembered = this.#known.get(siteId)
    if (remembered && remembered.version === version) return remembered.site
    const record = await hostedSite(this.#database.read, hostId, siteId)
    if (record) this.#last.set(siteId, record)
    else this.#last.delete(siteId)
    const site = record && describe(record, siteDirectories)
    // No change may announce that a closed site is open again, when the operation that closed it has ended.
    if (site && version !== undefined && !site.isClosed) this.#known.set(siteId, { site, version })
    else this.#known.delete(siteId)
    return site
  }

  /** Returns all sites in the order of their ids. */
  async all(): Promise<HostedSite[]> {
    const { hostId, siteDirectories } = await this.#opened.promise
    return (await hostedSites(this.#database.read, hostId)).map((record) => describe(record, siteDirectories))
  }

  async #readAll(): Promise<void> {
    const { hostId } = await this.#opened.promise
    const records = await hostedSites(this.#database.read, hostId)
    this.#last = new Map(records.map((record) => [record.siteId, record]))
    await this.#keepAll()
  }
}

const describe = (record: HostedRecord, siteDirectories: SiteDirectories): HostedSite => ({
  ...siteDirectories.phpSite({ id: record.directoryId, coreVersion: record.coreVersion }, record),
  ...flagsOfRow(record),
  isClosed: record.closed === 1,
})

async function within<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HostStarting('the host is starting')), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
