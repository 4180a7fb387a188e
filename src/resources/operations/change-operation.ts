import type { Tx } from '../../platform/db/database.ts'
import { notFound, Problem } from '../../platform/http/problem.ts'
import type { Definitions } from '../../platform/operations/definition.ts'
import { findOperation, type OperationView } from '../../platform/operations/read.ts'
import { capabilities, refusalOf, type SiteCapability } from '../access/access.ts'
import type { Caller } from '../kit/caller.ts'
import { type SiteRights, visibleSite } from '../sites/public.ts'
import { visibleTo } from './operation.ts'
import { problems } from './problems.ts'

/** Returns whether a definition's right is one that callers can have on a site. */
export const isSiteCapability = (name: string): name is SiteCapability => Object.hasOwn(capabilities, name)

/**
 * Returns the operation that a caller wants to change: its own, or one of a site on which it has the right that the
 * definition names. That is the right that starting the operation needs. An operation of an unknown definition belongs
 * only to its account.
 * @throws Problem `not_found` when the caller cannot see it, `operation_not_yours` when only its account may change it,
 * `forbidden` when the caller lacks the role
 */
export async function changeableOperation(
  tx: Tx,
  caller: Caller,
  definitions: Definitions,
  id: number,
): Promise<OperationView> {
  const found = await findOperation(tx, id, visibleTo(caller.accountId))
  if (!found) throw notFound()
  if (found.accountId === caller.accountId) return found
  const site = found.siteId === null ? undefined : await visibleSite(tx, caller.accountId, found.siteId)
  if (!site) throw notFound()
  const refusal = refusalOfChange(caller, definitions, { operation: found, site })
  if (refusal) throw refusal
  return found
}

/** @returns why the caller may not change an operation of a site that it sees, or `undefined` when it may */
export function refusalOfChange(
  caller: Caller,
  definitions: Definitions,
  { operation, site }: { readonly operation: OperationView; readonly site: SiteRights | undefined },
): Problem | undefined {
  if (operation.accountId === caller.accountId) return undefined
  const changeableBy = definitions.get(operation.type)?.changeableBy ?? 'account'
  if (!site || changeableBy === 'account' || !isSiteCapability(changeableBy.site))
    return new Problem(problems.operation_not_yours, {})
  return refusalOf(changeableBy.site, caller, site)
}
