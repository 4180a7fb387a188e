import type { Tx } from '../../platform/db/database.ts'
import { notFound, Problem } from '../../platform/http/problem.ts'
import type { Definitions } from '../../platform/operations/definition.ts'
import { getOperation, type OperationView } from '../../platform/operations/read.ts'
import { capabilities, demand, type SiteCapability } from '../access.ts'
import type { Caller } from '../context.ts'
import { visibleSite } from '../sites/site.ts'
import { visibleTo } from './operation.ts'
import { problems } from './problems.ts'

/** Whether a definition's right is one of those that callers can have on a site. */
export const isSiteCapability = (name: string): name is SiteCapability => Object.hasOwn(capabilities, name)

/**
 * The operation that a caller wants to change: its own, or one of a site on which it has the right that the definition names
 * (what it would have needed to ask for it). One that no definition is known of is its account's alone.
 * @throws Problem `not_found` when it is not visible, `operation_not_yours` when it is its account's alone, `forbidden` when the
 *   caller has not the role
 */
export async function changeableOperation(
  tx: Tx,
  caller: Caller,
  definitions: Definitions,
  id: number,
): Promise<OperationView> {
  const found = await getOperation(tx, id, visibleTo(caller.accountId))
  if (!found) throw notFound()
  if (found.accountId === caller.accountId) return found
  const site = found.siteId === null ? undefined : await visibleSite(tx, caller.accountId, found.siteId)
  if (!site) throw notFound()
  const changeableBy = definitions.get(found.type)?.changeableBy ?? 'account'
  if (changeableBy === 'account' || !isSiteCapability(changeableBy.site))
    throw new Problem(problems.operation_not_yours, {})
  demand(changeableBy.site, caller, site)
  return found
}
