import type { Tx } from '../../../platform/db/database.ts'
import { besidesOf, type Page, pageOf } from '../../../platform/http/schemas.ts'
import type { ListedSite } from '../site.ts'
import { orderOf, placeBehind, type SortInput, sortedPlaceOf } from './site-order.ts'
import { nextPlace, requestedPlace } from './site-place.ts'
import {
  countVisibleSites,
  listSitesWithIds,
  listVisibleSites,
  type SiteSelection,
  sortedSites,
} from './visible-site.store.ts'

interface Asked {
  readonly page?: number
  readonly per_page?: number
  readonly after?: number
  readonly place?: string
  readonly sort?: SortInput
}

interface SitePage {
  readonly sites: ListedSite[]
  /** Tells the caller about the other pages. */
  readonly besides: { page?: Page; headers?: Record<string, string> }
}

/**
 * Returns one page of the sites that an account sees.
 * @throws Problem `invalid_input`
 */
export async function readSitePage(
  tx: Tx,
  accountId: number,
  selection: SiteSelection,
  input: Asked,
): Promise<SitePage> {
  const order = orderOf(input)
  const isByPlace = input.place !== undefined
  const asked = pageOf(isByPlace ? { per_page: input.per_page } : input)
  const count = () => countVisibleSites(tx, accountId, selection)
  if (order) {
    const from = sortedPlaceOf(order, input.place)
    const found = await sortedSites(tx, accountId, selection, order, { ...asked, from })
    const ids = found.map(({ siteId }) => siteId)
    const sites = await listSitesWithIds(tx, accountId, ids)
    if (!isByPlace) return { sites, besides: await besidesOf(asked, sites, count) }
    return { sites, besides: placeBehind(order, found.length === asked.perPage ? found.at(-1) : undefined) }
  }
  const place = requestedPlace(input)
  const sites = await listVisibleSites(tx, accountId, selection, asked, place === 'begin' ? undefined : place)
  return { sites, besides: isByPlace ? nextPlace(sites, asked.perPage) : await besidesOf(asked, sites, count) }
}
