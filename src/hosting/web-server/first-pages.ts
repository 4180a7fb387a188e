import { Readable } from 'node:stream'
import { LRUCache } from 'lru-cache'
import type { PhpResponse } from '../php/runtime.ts'

/** A front page that PHP has made for nobody in particular. */
export interface MadePage {
  /** Raw pairs, flat. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

interface Kept {
  readonly page: MadePage
  readonly purge: number
}

/** Its first visitor waits already, or does not come soon. */
const KEPT_MS = 10_000
const MOST_BYTES = 8 << 20
const MOST_PAGE_BYTES = 1 << 20

/**
 * The pages with which new sites have proved that they answer. The first edge that asks for one on behalf of everybody gets it, once: as if it
 * had asked while the site proved itself. So it is an edge's to keep, and no page from before a purge comes after it.
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

  /** @param newestPurge number of the newest order to edges to let go of pages, of any site */
  constructor(newestPurge: () => Promise<number>) {
    this.#newestPurge = newestPurge
  }

  /**
   * Has a site make its front page, and keeps it.
   * @param make resolves without a page where it is not everybody's, or not known as it would be sent
   */
  async keep<Made extends { readonly page: MadePage | null }>(
    siteId: number,
    make: () => Promise<Made>,
  ): Promise<Made> {
    // before: what is purged meanwhile may be in it
    const purge = await this.#newestPurge()
    const made = await make()
    if (made.page) this.#pages.set(siteId, { page: made.page, purge })
    return made
  }

  /** @returns undefined where there is none that is still right */
  async take(siteId: number): Promise<PhpResponse | undefined> {
    const kept = this.#pages.get(siteId)
    if (!kept) return undefined
    this.#pages.delete(siteId)
    if ((await this.#newestPurge()) !== kept.purge) return undefined
    return { status: 200, headers: kept.page.headers, body: Readable.from([kept.page.body], { objectMode: false }) }
  }
}
