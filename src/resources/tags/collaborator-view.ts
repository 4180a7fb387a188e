import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { notFound } from '../../platform/http/problem.ts'
import { type Account, findAccount, findAccountByEmail, normalEmail } from '../account/public.ts'
import type { Caller } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import {
  countVisibleSites,
  findCollaboration,
  type ListedSite,
  presentSiteWithAddresses,
  SiteWithAddresses,
  type VisibleSite,
  visibleSite,
} from '../sites/public.ts'

/** A path parameter with an email address, percent-encoded. */
export const EmailParam = Type.String({
  minLength: 3,
  maxLength: 254,
  description: 'E-mail address, percent-encoded',
  examples: ['colleague@example.com'],
})

/** Sites as a collaborator sees them: with its favourites and tags. */
export const CollaboratorSites = Type.Object(
  {
    name: Type.String({ examples: ['A Colleague'] }),
    email: Type.String({ examples: ['colleague@example.com'] }),
    sites: Type.Array(SiteWithAddresses),
  },
  { title: 'CollaboratorSites' },
)

export function presentCollaboratorSites(account: Account, sites: readonly ListedSite[], { config, now }: Context) {
  return {
    name: account.name,
    email: account.email,
    sites: sites.map((site) => presentSiteWithAddresses(site, config, now)),
  }
}

/**
 * Returns the account of an address, if the caller may see and arrange its view: the caller itself, or a collaborator
 * on its sites.
 * @returns `ownerId` limits the view to sites of this owner
 * @throws Problem `not_found`
 */
export async function viewOf(
  tx: Tx,
  caller: Caller,
  email: string,
): Promise<{ account: Account; ownerId: number | undefined }> {
  const account = await findAccountByEmail(tx, normalEmail(email))
  if (account?.id === caller.accountId) return { account, ownerId: undefined }
  if (!account || (await countVisibleSites(tx, account.id, { ownerId: caller.accountId })) === 0) throw notFound()
  return { account, ownerId: caller.accountId }
}

/**
 * Returns one site in that view.
 * @throws Problem `not_found`
 */
export async function siteInView(
  tx: Tx,
  caller: Caller,
  email: string,
  siteId: number,
): Promise<{ account: Account; site: VisibleSite }> {
  const { account, ownerId } = await viewOf(tx, caller, email)
  const site = await visibleSite(tx, account.id, siteId)
  if (!site || (ownerId !== undefined && site.accountId !== ownerId)) throw notFound()
  return { account, site }
}

/**
 * Returns the site of a collaboration as its collaborator sees it, for that collaborator and for the site's owner.
 * @throws Problem `not_found`
 */
export async function siteOfCollaboration(
  tx: Tx,
  caller: Caller,
  collaboratorId: number,
): Promise<{ account: Account; site: VisibleSite }> {
  const found = await findCollaboration(tx, collaboratorId)
  const site = found && (await visibleSite(tx, found.accountId, found.siteId))
  if (!site || (found.accountId !== caller.accountId && site.accountId !== caller.accountId)) throw notFound()
  return { account: (await findAccount(tx, found.accountId)) as Account, site }
}
