import type { Tx } from '../../platform/db/database.ts'
import type { Caller } from '../kit/caller.ts'
import { holdVisibleSite, type VisibleSite, visibleSite } from '../sites/public.ts'
import { linkOf } from './environment.store.ts'
import type { EnvironmentLink } from './environment.ts'

/** An environment of the live site that the path names. */
export interface LinkedEnvironment {
  readonly environment: VisibleSite
  readonly link: EnvironmentLink
}

/**
 * Returns an environment of the site of the path, and holds it in a transaction.
 * @returns undefined if the site does not have it, or the caller cannot see it
 */
export async function linkedEnvironment(
  { tx, caller, site }: { readonly tx: Tx; readonly caller: Caller; readonly site: VisibleSite },
  environmentId: number,
): Promise<LinkedEnvironment | undefined> {
  const environment = await (tx.isTransaction ? holdVisibleSite : visibleSite)(tx, caller.accountId, environmentId)
  const link = await linkOf(tx, environmentId)
  return environment && link?.liveSiteId === site.id ? { environment, link } : undefined
}
