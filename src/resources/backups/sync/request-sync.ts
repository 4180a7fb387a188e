import type { Config } from '../../../config.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { openOperations } from '../../../platform/operations/open-operations.ts'
import { aboutSite, type Change } from '../../kit/change.ts'
import type { Context } from '../../kit/context.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { requireInstalled, type VisibleSite } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { freeSlots } from '../backup.store.ts'
import { creatorOf } from '../creator.ts'
import { problems } from '../problems.ts'
import { type RequestedBackup, requestBackups } from '../take/take-backup.job.ts'
import { orderCopies } from './content-in-storage.ts'
import { previewSync } from './preview-sync.job.ts'
import { describeSync, kindsOf, type SyncOrder } from './sync.ts'
import { syncSitesJob } from './sync-sites.job.ts'

/** The two sites of a sync. The caller holds both, and has checked {@link rightsOfSync}. */
export interface SyncedSites {
  readonly from: VisibleSite
  readonly to: VisibleSite
}

type WantedSync = Pick<SyncOrder, 'parts' | 'database' | 'skipHttpCheck' | 'environmentType'>
type Requesting = Context & Change

/**
 * Starts the sync of two sites, after backups of both.
 * @param slots whether the backups are on-demand ones, which take a slot each. Otherwise Stead keeps them for 7 days,
 * and backs up the source only if the destination is on another host
 * @throws Problem `site_not_live`, `sync_unlike_sites`, `sync_needs_slot`
 */
export async function requestSync(
  context: Requesting,
  sites: SyncedSites,
  wanted: WantedSync,
  { slots }: { readonly slots: boolean },
): Promise<number> {
  const { tx } = context
  const { from, to } = sites
  requireSyncable(sites, wanted, context.config)
  // The sync runs after what was requested for the source before.
  const earlier = await openOperations(tx, from.id)
  const backups = slots ? await backupsInSlots(context, sites, wanted) : await backupsForWeek(context, sites, wanted)
  const input: SyncOrder = {
    ...{ siteId: to.id, sourceId: from.id, parts: [...wanted.parts], database: wanted.database },
    skipHttpCheck: wanted.skipHttpCheck,
    ...(wanted.environmentType && {
      environmentType: wanted.environmentType,
      environmentBefore: to.environmentType,
    }),
    backups: backups.map(({ siteId, backupId }) => ({ siteId, backupId })),
  }
  const after = [...earlier, ...backups.map(({ operationId }) => operationId)]
  const id = await context.start(syncSitesJob, input, { about: aboutSite(to), after })
  await context.record({
    action: actions['site.sync_ordered'],
    message: `Requested a sync of ${describeSync(wanted)} from ${from.name}`,
    about: aboutSite(to),
  })
  await context.record({
    action: actions['site.sync_out_ordered'],
    message: `Requested a sync of ${describeSync(wanted)} to ${to.name}`,
    about: aboutSite(from),
  })
  return id
}

/**
 * Starts the preview of a sync, which changes nothing.
 * @param since moment when the databases of both were the same, milliseconds UTC. `null` if unknown
 * @throws Problem `site_not_live`, `sync_unlike_sites`
 */
export async function requestSyncPreview(
  context: Requesting,
  sites: SyncedSites,
  wanted: Pick<SyncOrder, 'parts' | 'database'>,
  since: number | null,
): Promise<number> {
  const { tx } = context
  const { from, to } = sites
  requireSyncable(sites, wanted, context.config)
  const after = await openOperations(tx, from.id)
  const copies = from.hostId === to.hostId ? undefined : await orderCopies(tx, from, context)
  const input = {
    ...{ siteId: to.id, sourceId: from.id, parts: [...wanted.parts], database: wanted.database, since },
    backups: (copies?.backups ?? []).map((backupId) => ({ siteId: from.id, backupId })),
  }
  const about = aboutSite(to)
  const id = await context.start(previewSync, input, { about, after: [...after, ...(copies?.operations ?? [])] })
  await context.record({
    action: actions['site.sync_previewed'],
    message: `Requested a preview of a sync of ${describeSync(wanted)} from ${from.name}`,
    about,
  })
  return id
}

/** @throws Problem `site_not_live`, `sync_unlike_sites` */
function requireSyncable({ from, to }: SyncedSites, wanted: Pick<SyncOrder, 'database'>, config: Config): void {
  for (const site of [from, to]) requireInstalled(site)
  const isWithDatabase = wanted.database !== false
  const reason =
    (from.accountId !== to.accountId && 'they belong to different accounts') ||
    (from.hostId !== to.hostId &&
      !haveStorageInCommon(config) &&
      'they are on different hosts, which do not share a backup storage') ||
    (isWithDatabase && from.coreVersion !== to.coreVersion && 'they run different versions of WordPress') ||
    (isWithDatabase && from.hasMultisite !== to.hasMultisite && 'only one of the two sites is a network')
  if (reason) throw new Problem(problems.sync_unlike_sites, { reason })
}

async function backupsInSlots(
  context: Requesting,
  { from, to }: SyncedSites,
  wanted: WantedSync,
): Promise<RequestedBackup[]> {
  const { tx, now } = context
  for (const site of [from, to]) for (const kind of kindsOf(wanted)) await requireSlot(tx, site, kind)
  const by = { origin: 'ondemand', createdBy: await creatorOf(context), now } as const
  return [
    ...(await requestBackups(tx, from, kindsOf(wanted), by)),
    ...(await requestBackups(tx, to, kindsOf(wanted), by)),
  ]
}

async function backupsForWeek(
  { tx, now }: Requesting,
  { from, to }: SyncedSites,
  wanted: WantedSync,
): Promise<RequestedBackup[]> {
  const by = { origin: 'undo', createdBy: null, now } as const
  return [
    ...(from.hostId === to.hostId ? [] : await requestBackups(tx, from, kindsOf(wanted), by)),
    ...(await requestBackups(tx, to, kindsOf(wanted), by)),
  ]
}

/** @throws Problem `sync_needs_slot` */
async function requireSlot(tx: Tx, site: VisibleSite, kind: 'fs' | 'db'): Promise<void> {
  if ((await freeSlots(tx, site.id, kind)) === 0)
    throw new Problem(problems.sync_needs_slot, { site: site.name, type: kind })
}
