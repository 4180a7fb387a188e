import type { Tx } from '../../platform/db/database.ts'
import type { PermissionContext } from '../../platform/operations/definition.ts'
import { rightsAmong } from '../sites/rights.store.ts'
import { capabilities, holds, type SiteCapability } from './access.ts'

/** Right that an account had when its work began. */
export interface RightAtStart {
  readonly accountId: number
  readonly siteId: number
  readonly capability: SiteCapability
}

/**
 * Returns for each claim whether it still holds. Everything that outlives its request (operations, downloads, event
 * streams) checks this again before it reads or overwrites, because collaborators lose roles and leave sites meanwhile.
 * A site in the trash keeps its collaborators.
 */
export async function stillAllowed(tx: Tx, claims: readonly RightAtStart[]): Promise<boolean[]> {
  const ids = (of: (claim: RightAtStart) => number) => [...new Set(claims.map(of))]
  const rights = await rightsAmong(
    tx,
    ids(({ accountId }) => accountId),
    ids(({ siteId }) => siteId),
  )
  return claims.map(({ accountId, siteId, capability }) => {
    const found = rights.get(siteId)?.(accountId)
    return found !== undefined && holds(capability, found)
  })
}

/** Right that an operation needs on a site. */
export type Needed = Omit<RightAtStart, 'accountId'>

/**
 * Creates the `permission` of a definition.
 * @param needed returns what the work needs from its next step on, or nothing when only the cleanup is left
 */
export const needsRights =
  <Input>(needed: (input: Input, results: PermissionContext['results']) => readonly Needed[]) =>
  async (tx: Tx, { askedById, input, results }: PermissionContext<Input>): Promise<string | undefined> => {
    const claims = needed(input, results).map((each) => ({ ...each, accountId: askedById }))
    const lost = claims[(await stillAllowed(tx, claims)).indexOf(false)]
    if (!lost) return undefined
    const { role } = capabilities[lost.capability]
    const what = role === null ? 'can see' : `has the role ${role} on`
    return `The account that started this operation no longer ${what} site ${lost.siteId}. An account with access can retry the operation.`
  }
