import type { Tx } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { getOperation, type OperationView } from '../../platform/operations/read.ts'
import { demand, type SiteCapability } from '../access.ts'
import type { Caller } from '../context.ts'
import { visibleSite } from '../sites/site.ts'
import { visibleTo } from './operation.ts'

/**
 * What a caller needs to cancel or retry an operation of a site that is not its own: what it would have needed to ask for
 * it. Types that are not named are the owner's alone.
 */
const needed: Readonly<Record<string, SiteCapability>> = {
  'site.configure': 'manage performance',
  'collaborator.sync_wp_user': 'add collaborators',
  'collaborator.reset_password': 'reset collaborator passwords',
  'site.reset_admin_password': 'administer the CMS',
}

/**
 * The operation that a caller wants to change.
 * @throws Problem `not_found` when it is not visible, `forbidden` when it is another's and the caller has not the role
 */
export async function changeableOperation(tx: Tx, caller: Caller, id: number): Promise<OperationView> {
  const found = await getOperation(tx, id, visibleTo(caller.accountId))
  if (!found) throw notFound()
  if (found.accountId === caller.accountId) return found
  const site = found.siteId === null ? undefined : await visibleSite(tx, caller.accountId, found.siteId)
  if (!site) throw notFound()
  demand(needed[found.type] ?? 'delete the site', caller, site)
  return found
}
