import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { StepContext } from '../../platform/operations/definition.ts'
import type { Role } from '../access/roles.ts'
import { type Account, findAccount } from '../account/public.ts'
import { aboutSite, type Change, changeBy } from '../kit/change.ts'
import { deleteSftpUser, hasSftpAccess, insertSftpUser } from '../sftp-users/public.ts'
import { grantAccess, holdSite, revokeAccess, type Site } from '../sites/public.ts'
import { deleteTagsOfSite } from '../tags/public.ts'
import { accountAccess } from './account-access.store.ts'
import { actions, events } from './actions.ts'
import {
  deleteCollaborator,
  findMembership,
  insertCollaborator,
  listCollaboratorsOfSite,
  setRoles,
  sharedSites,
} from './collaborator.store.ts'
import { type Collaborator, hasWpAccess, MOST_COLLABORATORS, wpUsernameFor } from './collaborator.ts'
import { problems } from './problems.ts'
import { type Reassignment, startWpUser } from './sync-wp-user.job.ts'

/*
 * Joins, changes and removes collaborators of a site. Each function runs in the caller's transaction. It writes the
 * row, the access to the site, the activity and the event, and starts the work in WordPress. The site is held, so none
 * joins or leaves while it goes live. Going live creates users of the collaborators by then, and later ones are created
 * by their own operation.
 */

/** The actor and the time of a change. */
export interface By extends Change {
  readonly now: number
}

/**
 * Adds an account that is not on the site yet and does not own it.
 * @returns the operation in WordPress, if one is needed
 * @throws Problem `collaborator_limit_reached`
 */
export async function joinSite(
  tx: Tx,
  site: Site,
  account: Pick<Account, 'id' | 'email'>,
  held: readonly Role[],
  by: By,
): Promise<{ collaboratorId: number; wpOperationId: number | undefined }> {
  const others = await listCollaboratorsOfSite(tx, site.id)
  if (others.length >= MOST_COLLABORATORS)
    throw new Problem(problems.collaborator_limit_reached, { what: 'a site', limit: MOST_COLLABORATORS })
  const taken = new Set(
    [site.adminUsername, ...others.map((each) => each.wpUsername)].map((name) => name.toLowerCase()),
  )
  const wpUsername = wpUsernameFor(account.email, taken)
  const values = {
    siteId: site.id,
    accountId: account.id,
    ownerAccountId: site.accountId,
    wpUsername,
    roles: held,
    now: by.now,
  }
  const collaboratorId = await insertCollaborator(tx, values)
  await grantAccess(tx, account.id, site)
  if (hasSftpAccess(held)) await insertSftpUser(tx, { site, accountId: account.id, now: by.now })
  const message = `Added ${account.email} to ${site.name} with ${rolesText(held)}`
  const data = { collaborator_id: collaboratorId, email: account.email, roles: held }
  const event = { type: events.collaborator_added, data }
  await by.record({ action: actions['account.collaborator'], message, event, about: aboutSite(site) })
  const wpOperationId = hasWpAccess(held) ? await startWpUser(by, site, account.id, 'keep') : undefined
  return { collaboratorId, wpOperationId }
}

/** Returns whether no more accounts can join. */
export const isFull = async (tx: Tx, siteId: number): Promise<boolean> =>
  (await listCollaboratorsOfSite(tx, siteId)).length >= MOST_COLLABORATORS

/** Replaces the roles of a collaborator. */
export async function changeRoles(
  tx: Tx,
  site: Site,
  member: Collaborator,
  held: readonly Role[],
  by: By,
): Promise<{ isChanged: boolean; wpOperationId: number | undefined }> {
  if (member.roles.join() === held.join()) return { isChanged: false, wpOperationId: undefined }
  await setRoles(tx, member.id, held, by.now)
  if (hasSftpAccess(held)) await insertSftpUser(tx, { site, accountId: member.accountId, now: by.now })
  else await deleteSftpUser(tx, site.id, member.accountId)
  const message = `Changed the roles of ${member.email} on ${site.name} to ${rolesText(held)}`
  await by.record({ action: actions['account.collaborator'], message, about: aboutSite(site) })
  const differs = hasWpAccess(member.roles) !== hasWpAccess(held)
  const reassign = hasWpAccess(held) ? 'keep' : 'next'
  const wpOperationId = differs ? await startWpUser(by, site, member.accountId, reassign) : undefined
  return { isChanged: true, wpOperationId }
}

/**
 * Removes a collaborator from a site.
 * @param reassign `keep` leaves its WordPress user unchanged
 */
export async function leaveSite(
  tx: Tx,
  site: Site,
  member: Collaborator,
  reassign: Reassignment,
  by: By,
): Promise<{ wpOperationId: number | undefined }> {
  await deleteCollaborator(tx, member.id)
  await revokeAccess(tx, member.accountId, site.id)
  await deleteSftpUser(tx, site.id, member.accountId)
  await deleteTagsOfSite(tx, site.id, member.accountId)
  const message = `Removed ${member.email} from ${site.name}`
  const event = {
    type: events.collaborator_deleted,
    data: { collaborator_id: member.id, email: member.email },
  } as const
  await by.record({ action: actions['account.collaborator'], message, event, about: aboutSite(site) })
  const wpOperationId = reassign === 'keep' ? undefined : await startWpUser(by, site, member.accountId, reassign)
  return { wpOperationId }
}

/**
 * Removes an account from all sites of others. Each site is one transaction, which also notifies the owner. WordPress
 * users stay, because they may have posts.
 */
export async function leaveSites(
  { transaction, signal, now }: Pick<StepContext, 'transaction' | 'signal' | 'now'>,
  accountId: number,
): Promise<void> {
  const leave = async (tx: Tx, siteId: number) => {
    const site = await holdSite(tx, siteId)
    const member = site && (await findMembership(tx, siteId, accountId))
    if (!member) return
    const by = changeBy(tx, { actor: 'systems', about: aboutSite(site), now: now() })
    await leaveSite(tx, site, member, 'keep', { ...by, now: now() })
  }
  for (const siteId of await transaction((tx) => sharedSites(tx, accountId))) {
    signal.throwIfAborted()
    await transaction((tx) => leave(tx, siteId))
  }
}

/** Adds the accounts to a new site that its owner adds to all new sites. */
export async function addAccountLevelCollaborators(
  tx: Tx,
  site: Site,
  by: By,
): Promise<{ collaboratorsCount: number }> {
  const joining = (await accountAccess(tx, site.accountId)).filter((access) => access.addToAllNew)
  for (const { accountId, roles } of joining)
    await joinSite(tx, site, (await findAccount(tx, accountId)) as Account, roles, by)
  return { collaboratorsCount: joining.length }
}

/** Starts the creation of WordPress users for the collaborators of a site that goes live. */
export async function startWpUsersOfSite(tx: Tx, site: Site, change: Change): Promise<void> {
  for (const member of await listCollaboratorsOfSite(tx, site.id))
    if (hasWpAccess(member.roles)) await startWpUser(change, site, member.accountId, 'keep')
}

const rolesText = (held: readonly Role[]): string => (held.length > 0 ? `the roles ${held.join(', ')}` : 'no roles')
