import type { Tx } from '../../platform/db/database.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { foreignSites } from './webhook.store.ts'
import { urlFault } from './webhook.ts'

interface Fields {
  readonly url?: string | undefined
  readonly event_types?: readonly string[] | null | undefined
  readonly site_ids?: readonly number[] | null | undefined
}

/** @throws Problem that lists everything wrong with a client's fields */
export async function checkFields(
  tx: Tx,
  { url, event_types: types, site_ids: siteIds }: Fields,
  by: { accountId: number; eventTypes: readonly string[]; allowPrivate: boolean },
): Promise<void> {
  const unknown = (types ?? []).filter((type) => !by.eventTypes.includes(type))
  const foreign = siteIds ? await foreignSites(tx, by.accountId, siteIds) : []
  const faults = [
    url === undefined ? undefined : urlFault(url, by),
    ...unknown
      .slice(0, 10)
      .map((type) => `event_types: ${JSON.stringify(type)} is not an event type. See docs/webhooks.md for all types`),
    ...foreign.slice(0, 10).map((id) => `site_ids: ${id} is not a site of your account`),
  ].filter((fault) => fault !== undefined)
  if (faults.length > 0) throw invalidInput(faults)
}

/** Removes duplicates. */
export const distinct = <Item>(items: readonly Item[] | null): Item[] | null => items && [...new Set(items)]
