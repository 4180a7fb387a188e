import type { Tx } from '../../../platform/db/database.ts'
import { cancelOpenOperations } from '../../../platform/operations/control.ts'
import type { Definitions } from '../../../platform/operations/definition.ts'
import type { Recording } from '../../kit/change.ts'
import { actions, events } from '../actions.ts'
import { markDeleted } from '../site.store.ts'
import type { Site } from '../site.ts'

/** Removes a site from all lists, and cancels its operations. The caller holds it, and starts the removal of its files. */
export async function deleteHeldSite(
  tx: Tx,
  site: Pick<Site, 'id' | 'name'>,
  { record, now, definitions }: Pick<Recording, 'record'> & { readonly now: number; readonly definitions: Definitions },
): Promise<void> {
  await markDeleted(tx, site.id, now)
  const event = { type: events.site_deleted, data: { name: site.name } }
  await record({ action: actions['site.deleted'], message: `Deleted site ${site.name}`, event })
  // Open operations of the site are pointless now, and would delay its removal.
  await cancelOpenOperations(tx, site.id, now, definitions)
}
