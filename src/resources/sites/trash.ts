import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { cancelOperation } from '../../platform/operations/control.ts'
import { recordActivity } from '../activity/record.ts'
import { findDeletedSite, isNameTaken, openPurges, unmarkDeleted } from './site.store.ts'
import type { Site } from './site.ts'

/**
 * Brings a deleted site back as long as its files are in the trash.
 * @returns `undefined` when there is none of this name
 * @throws Problem `name_taken` when another site has the name by now
 */
export async function restoreFromTrash(tx: Tx, name: string, now: number): Promise<Site | undefined> {
  const site = await findDeletedSite(tx, name)
  if (!site) return undefined
  if (await isNameTaken(tx, name)) throw new Problem('name_taken', { name })
  for (const id of await openPurges(tx, site.id))
    if ((await cancelOperation(tx, id, now)) !== 'canceled') return undefined
  await unmarkDeleted(tx, site.id, now)
  const message = `Restored site ${name} from the trash`
  await recordActivity(tx, 'systems', {
    action: 'site.undeleted',
    accountId: site.accountId,
    siteId: site.id,
    message,
    now,
  })
  return site
}
