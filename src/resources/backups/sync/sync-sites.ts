import type { Config } from '../../../config.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { httpProblems, invalidInput, notFound, Problem } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { openOperations } from '../../../platform/operations/open-operations.ts'
import { requireAccess } from '../../access/access.ts'
import { problems as authenticationProblems } from '../../authentication/public.ts'
import type { Caller } from '../../kit/caller.ts'
import { aboutSite } from '../../kit/change.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { holdVisibleSite, requireInstalled, problems as siteProblems, type VisibleSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { freeSlots } from '../backup.store.ts'
import { creatorOf } from '../creator.ts'
import { problems } from '../problems.ts'
import { requestBackups } from '../take/take-backup.job.ts'
import { describeSync, kindsOf, NewSync, partsToSync, rightsOfSync } from './sync.ts'
import { syncSitesJob } from './sync-sites.job.ts'

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
    const { tx, caller, now } = context
    requireSensible(body)
    const { from, to } = await bothSites(tx, caller, body)
    const order = { parts: partsToSync(body), database: body.database === true }
    requireAlike(from, to, { isWithDatabase: order.database, config: context.config })
    for (const site of [from, to]) for (const kind of kindsOf(order)) await requireSlot(tx, site, kind)
    // The sync runs after what was requested for the source before.
    const earlier = await openOperations(tx, from.id)
    const createdBy = await creatorOf(context)
    const by = { origin: 'ondemand', createdBy, now } as const
    const backups = [
      ...(await requestBackups(tx, from, kindsOf(order), by)),
      ...(await requestBackups(tx, to, kindsOf(order), by)),
    ]
    const input = {
      ...{ siteId: to.id, sourceId: from.id, ...order, skipHttpCheck: body.skip_http_check === true },
      ...(body.wp_environment_type && {
        environmentType: body.wp_environment_type,
        environmentBefore: to.environmentType,
      }),
      backups: backups.map(({ siteId, backupId }) => ({ siteId, backupId })),
    }
    const after = [...earlier, ...backups.map(({ operationId }) => operationId)]
    const about = aboutSite(to)
    await context.start(syncSitesJob, input, { about, after })
    const message = `Requested a sync of ${describeSync(order)} from ${from.name}`
    await context.record({ action: actions['site.sync_ordered'], message, about })
    await context.record({
      action: actions['site.sync_out_ordered'],
      message: `Requested a sync of ${describeSync(order)} to ${to.name}`,
      about: aboutSite(from),
    })
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
 * @throws Problem `not_found`, `forbidden`, `site_not_live`
 */
async function bothSites(
  tx: Tx,
  caller: Caller,
  { from_site_id: fromId, to_site_id: toId }: NewSync,
): Promise<{ from: VisibleSite; to: VisibleSite }> {
  const held = new Map<number, VisibleSite>()
  for (const id of [fromId, toId].toSorted((left, right) => left - right)) {
    const site = await holdVisibleSite(tx, caller.accountId, id)
    if (!site) throw notFound()
    held.set(id, site)
  }
  const both = { from: held.get(fromId) as VisibleSite, to: held.get(toId) as VisibleSite }
  for (const { siteId, capability } of rightsOfSync({ siteId: toId, sourceId: fromId }))
    requireAccess(capability, caller, held.get(siteId) as VisibleSite)
  for (const site of [both.from, both.to]) requireInstalled(site)
  return both
}

/** @throws Problem `sync_unlike_sites` */
function requireAlike(
  from: VisibleSite,
  to: VisibleSite,
  { isWithDatabase, config }: { readonly isWithDatabase: boolean; readonly config: Config },
): void {
  const reason =
    (from.accountId !== to.accountId && 'they belong to different accounts') ||
    (from.hostId !== to.hostId &&
      !haveStorageInCommon(config) &&
      'they are on different hosts, which do not share a backup storage') ||
    (isWithDatabase && from.coreVersion !== to.coreVersion && 'they run different versions of WordPress') ||
    (isWithDatabase && from.hasMultisite !== to.hasMultisite && 'only one of the two sites is a network')
  if (reason) throw new Problem(problems.sync_unlike_sites, { reason })
}

/** @throws Problem `sync_needs_slot` */
async function requireSlot(tx: Tx, site: VisibleSite, kind: 'fs' | 'db'): Promise<void> {
  if ((await freeSlots(tx, site.id, kind)) === 0)
    throw new Problem(problems.sync_needs_slot, { site: site.name, type: kind })
}
