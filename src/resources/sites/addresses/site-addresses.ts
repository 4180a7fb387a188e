import type { Config } from '../../../config.ts'
import type { AddressChange } from '../../../hosting/site-database/database-content.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { isWildcard } from '../../../platform/wildcard-name.ts'
import { writtenAddressOf } from '../site.store.ts'
import { stagingAddress } from '../site.ts'

/**
 * Returns every address that a site's content may use for the site: the written one, its first address, and its
 * domains.
 */
export async function addressesOf(tx: Tx, site: { id: number; name: string }, config: Config): Promise<string[]> {
  const written = await writtenAddressOf(tx, site.id)
  const routes = await tx.selectFrom('routes').select('host_name').where('site_id', '=', site.id).execute()
  const first = stagingAddress(site.name, config)
  const port = /:\d+$/.exec(first)?.[0] ?? ''
  // Behind a proxy, visitors use another port than the edge's own.
  const all = routes.flatMap(({ host_name: name }) => (isWildcard(name) ? [] : [name, name + port]))
  return [...new Set([...(written ? [written] : []), first, ...all])]
}

/** Returns those of them that lead to the whole site. Each of its other domains may be one blog of a network. */
export async function mainAddressesOf(tx: Tx, site: { id: number; name: string }, config: Config): Promise<string[]> {
  const written = await writtenAddressOf(tx, site.id)
  return [...new Set([...(written ? [written] : []), stagingAddress(site.name, config)])]
}

/** Returns the replacements for the addresses of a site in a copy of its content. */
export const movedTo = (to: string, addresses: readonly string[]): AddressChange[] =>
  addresses.filter((from) => from !== to).map((from) => ({ from, to }))
