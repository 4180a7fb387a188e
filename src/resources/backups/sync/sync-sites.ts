import type { Tx } from '../../../platform/db/database.ts'
import { httpProblems, invalidInput, notFound } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { requireAccess } from '../../access/access.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import type { Caller } from '../../kit/caller.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { holdVisibleSite, problems as siteProblems, type VisibleSite } from '../../sites/public.ts'
import { problems } from '../problems.ts'
import { requestSync, type SyncedSites } from './request-sync.ts'
import { NewSync, partsToSync, rightsOfSync } from './sync.ts'

export const syncSites = endpoint({
  id: 'syncSites',
  method: 'POST',
  path: '/v1/sites/sync',
  summary: 'Sync data from one site to another',
  description:
    "Overwrites parts of a site's files, its database, or both with those of another site. Addresses of the source are rewritten to those of the destination. " +
    'Stead first takes an on-demand backup of both sites, so each site needs a free slot for each type of data. It prepares the content while the destination stays open. ' +
    'Then it closes the destination and its dashboard until the homepage responds with the synced content. If that fails, Stead rolls back. ' +
    'Stead keeps the overwritten content for 7 days, so you can undo the sync with `POST /v1/operations/{id}/undo`. ' +
    'The source stays open. If it is on another host, Stead copies from its backup. Both sites must belong to the same account. ' +
    'A collaborator needs the role `download_backups` on the source and `restore_site` on the destination until the sync ends. Without them, the sync fails and the destination does not change. ' +
    'Stead records the sync in the activity logs of both sites and notifies their webhooks.',
  access: { account: 'own' },
  body: NewSync,
  response: Nothing,
  starts: true,
  problems: [
    problems.sync_unlike_sites,
    problems.sync_needs_slot,
    siteProblems.site_not_live,
    authenticationProblems.forbidden,
    httpProblems.not_found,
  ],

  async handle(context, { body }) {
    requireSensible(body)
    const sites = await bothSites(context.tx, context.caller, body)
    const wanted = {
      ...{ parts: partsToSync(body), database: body.database === true, skipHttpCheck: body.skip_http_check === true },
      ...(body.wp_environment_type && { environmentType: body.wp_environment_type }),
    }
    await requestSync(context, sites, wanted, { slots: true })
    return null
  },
})

function requireSensible(body: NewSync): void {
  if (body.from_site_id === body.to_site_id) throw invalidInput(['to_site_id: must differ from from_site_id'])
  if (partsToSync(body).length === 0 && body.database !== true)
    throw invalidInput(['database: set it or one of the directories to true, so that there is data to sync'])
}

/**
 * Holds both sites. All callers do so in the same order, so that no two wait for each other.
 * @throws Problem `not_found`, `forbidden`
 */
async function bothSites(
  tx: Tx,
  caller: Caller,
  { from_site_id: fromId, to_site_id: toId }: NewSync,
): Promise<SyncedSites> {
  const held = new Map<number, VisibleSite>()
  for (const id of [fromId, toId].toSorted((left, right) => left - right)) {
    const site = await holdVisibleSite(tx, caller.accountId, id)
    if (!site) throw notFound()
    held.set(id, site)
  }
  for (const { siteId, capability } of rightsOfSync({ siteId: toId, sourceId: fromId }))
    requireAccess(capability, caller, held.get(siteId) as VisibleSite)
  return { from: held.get(fromId) as VisibleSite, to: held.get(toId) as VisibleSite }
}
