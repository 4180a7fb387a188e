import type { Database } from '../platform/db/database.ts'
import { type HostedRecord, hostedSite, hostedSites } from './host.store.ts'
import type { SiteDirectories } from './site-directories/site-directories.ts'
import { type HostedSite, HostStarting } from './web-server/web-server.ts'

/** The time a visitor waits for a host that starts. After that, the visitor must retry. */
const PATIENCE_MS = 10_000

/** The host that keeps the sites, and their directories. */
interface Place {
  readonly hostId: number
  readonly siteDirectories: SiteDirectories
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

  constructor(database: Database) {
    this.#database = database
  }

  /** Opens the sites, once the site directories match their records. */
  open(place: Place): void {
    this.#place = place
    this.#opened.resolve(place)
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
}

const describe = (record: HostedRecord, siteDirectories: SiteDirectories): HostedSite => ({
  ...siteDirectories.phpSite({ id: record.homeId, coreVersion: record.coreVersion }, record),
  isNetwork: record.multisite === 1,
  hasLight404: record.light404 === 1,
  inSafeMode: record.safeMode === 1,
  isClosed: record.closed === 1,
})

async function within<Value>(promise: Promise<Value>, timeoutMs: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HostStarting('the host is starting')), timeoutMs)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
