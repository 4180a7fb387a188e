import { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { PhpResponse } from '../php/runtime.ts'

/** A front page that PHP has rendered for any visitor. */
export interface MadePage {
  /** Flat, raw pairs. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

interface Kept {
  readonly page: MadePage
  readonly purge: number
}

/** The first visitor is already waiting, or does not come soon. */
const KEPT_MS = 10_000
const MOST_BYTES = 8 << 20
const MOST_PAGE_BYTES = 1 << 20

/**
 * The pages with which new sites have proved that they work. The first edge that requests one for all visitors gets it,
 * once, as if it had requested the page during the proof. So the edge may store it, and no page from before a purge
 * follows that purge.
 */
export class FirstPages {
  readonly #newestPurge: () => Promise<number>
  readonly #pages = new LRUCache<number, Kept>({
    maxSize: MOST_BYTES,
    maxEntrySize: MOST_PAGE_BYTES,
    sizeCalculation: ({ page }) => page.body.length + 1024,
    ttl: KEPT_MS,
    ttlAutopurge: true,
    perf: { now: () => performance.now() },
  })

  /** @param newestPurge returns the number of the newest purge of any site */
  constructor(newestPurge: () => Promise<number>) {
    this.#newestPurge = newestPurge
  }

  /**
   * Lets a site render its front page, and keeps it.
   * @param make resolves without a page if the page is not shared, or is not known in the form in which it would be
   * sent
   */
  async keep<Made extends { readonly page: MadePage | null }>(
    siteId: number,
    make: () => Promise<Made>,
  ): Promise<Made> {
    // Read first, because the page may contain what is purged meanwhile.
    const purge = await this.#newestPurge()
    const made = await make()
    if (made.page) this.#pages.set(siteId, { page: made.page, purge })
    return made
  }

  /** @returns undefined if the site has no page that is still valid */
  async take(siteId: number): Promise<PhpResponse | undefined> {
    const kept = this.#pages.get(siteId)
    if (!kept) return undefined
    this.#pages.delete(siteId)
    // Without the database, PHP renders the page again.
    const newest = await this.#newestPurge().catch(() => undefined)
    if (newest !== kept.purge) return undefined
    return { status: 200, headers: kept.page.headers, body: Readable.from([kept.page.body], { objectMode: false }) }
  }
}
