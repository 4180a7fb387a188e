import type { AddressChange } from '../../../hosting/site-database/database-content.ts'
import { readdressed } from '../../../hosting/site-files/stage/made-files.ts'
import type { Tx } from '../../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { hasResult, wasUndone } from '../../../platform/operations/steps-of.ts'
import { needsRights } from '../../access/still-allowed.ts'
import { aboutSite, type ChangeRecord, changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { fitNetwork } from '../../sites/network/fit-network.ts'
import {
  addressesOf,
  changeSite,
  contentState,
  findSite,
  holdSite,
  mainAddressesOf,
  movedTo,
  openSite,
  purgeCaches,
  type Site,
} from '../../sites/site.ts'
import { closeForWork, openAfterWork } from '../../sites/switches/close-for-work.ts'
import { configureSite } from '../../sites/switches/configure-site.job.ts'
import { siteFilled } from '../../sites/wordpress/site-filled.ts'
import { actions, events } from '../actions.ts'
import { findBackup, setOperation } from '../backup.store.ts'
import type { Kind } from '../backup.ts'
import { forGood } from '../restore/restore-check.ts'
import { forgetUnfinished, keepUndoPoint, type UndoPoint } from '../restore/undo-point.ts'
import { letItAnswer } from '../schedule/let-it-answer.ts'
import { orderBackup } from '../take/order-backup.ts'
import { takeBackupJob } from '../take/take-backup.job.ts'
import { contentPlace } from '../take/take-backup.ts'
import { inWords, kindsOf, rightsOf, SyncOrder, scopeOf } from './sync.ts'
import { sourceHere, sourceInStorage } from './sync-source.ts'

type Context<Results = { check: Checked }> = StepContext<SyncOrder, HostServices, Results>
type Undoing = StepContext<SyncOrder, HostServices, { check?: Checked; done?: boolean }>

/**
 * Overwrites parts of a site with those of another. Backups of both are there before it begins (it waits for them). All that takes long is done beside
 * the destination; then it is closed, switched over and opened again when it answers. Until `done` everything is taken back by the undo of the
 * steps; from then on nothing is.
 */
export const syncSitesJob = durableWith<HostServices>()({
  name: 'site.sync',
  input: SyncOrder,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  permission: needsRights((order: SyncOrder, { done }) => (done ? [] : rightsOf(order))),
  steps: {
    check: { run: unlessDone<Checked>(check) },
    files: { run: unlessDone(prepareFiles), undo: forgetPrepared, weight: 4 },
    database: { run: unlessDone(loadDatabase), undo: forgetPrepared, weight: 4 },
    close: {
      run: unlessDone((context) => closeForWork(context, context.input.siteId)),
      undo: (context: Undoing) => openAfterWork(context, context.input.siteId),
    },
    // when nobody writes to it any more; its automatic backup has most of it
    keep_files: { run: unlessDone((context) => keepIf(context, 'fs')), undo: forgetPoints, weight: 1 },
    keep_database: { run: unlessDone((context) => keepIf(context, 'db')), undo: forgetPoints, weight: 2 },
    // what was uploaded to it while it was open
    files_again: { run: unlessDone(prepareFiles), undo: forgetPrepared, weight: 1 },
    switch: { run: unlessDone(switchOver), undo: switchBack },
    network: { run: unlessDone(fitIfNetwork) },
    answer: {
      run: unlessDone(async (context) =>
        letItAnswer(context, {
          name: 'sync',
          changes: context.input.skipHttpCheck ? undefined : await addressChanges(context),
        }),
      ),
    },
    // without an undo: a retry finds that it is done
    done: { commit: openAgain },
    settle: { run: cleanUp },
  },
  failed: tellOfFailure,
})

/** A retry of what was canceled or failed after `done` has nothing to do but to clear up: the destination has new content since. */
function unlessDone<Result>(run: (context: Context) => Promise<Result>) {
  return async (context: StepContext<SyncOrder, HostServices>): Promise<Result> =>
    (context.results as Undoing['results']).done ? (null as Result) : run(context as Context)
}

async function keepIf(context: Context, kind: Kind): Promise<UndoPoint | null> {
  const { input } = context
  return kindsOf(input).includes(kind) ? keepUndoPoint(context, input.siteId, kind) : null
}

async function forgetPoints(context: Undoing): Promise<void> {
  await forgetUnfinished(context, context.input.siteId)
}

/** The automatic backups of a sync, source first, each in the queue of its site. They take a slot each: hold the sites. */
export async function requestSyncBackups(
  tx: Tx,
  sites: readonly Pick<Site, 'id' | 'accountId' | 'hostId'>[],
  kinds: readonly Kind[],
  { createdBy, now }: { readonly createdBy: string; readonly now: number },
): Promise<{ siteId: number; backupId: number; operationId: number }[]> {
  const ordered: { siteId: number; backupId: number; operationId: number }[] = []
  for (const { id: siteId, accountId, hostId } of sites)
    for (const kind of kinds) {
      const { id: backupId } = await orderBackup(tx, { siteId, kind, origin: 'ondemand', createdBy, now })
      const operationId = await enqueue(
        tx,
        takeBackupJob,
        { siteId, backupId, isAwaited: true },
        { siteId, accountId, hostId, now },
      )
      await setOperation(tx, backupId, operationId)
      ordered.push({ siteId, backupId, operationId })
    }
  return ordered
}

interface Checked {
  /** How often the content of the source had been replaced when this began. */
  readonly changes: number
  /** The source is on another host: what is copied are the backups that were taken of it. */
  readonly isElsewhere: boolean
}

async function check(context: Context<unknown>): Promise<Checked> {
  const { services, input } = context
  const { database, hostId } = services
  for (const { siteId, backupId } of input.backups) {
    const backup = await findBackup(database.read, siteId, backupId)
    if (backup?.state !== 'completed')
      throw new PermanentFailure(`Backup ${backupId} of site ${siteId} does not exist, so Stead overwrites nothing`)
  }
  const [source, site] = [await findSite(database.read, input.sourceId), await findSite(database.read, input.siteId)]
  if (!source || !site) throw new PermanentFailure('One of the two sites was deleted')
  if (site.hostId !== hostId) throw new PermanentFailure(`Site ${site.id} is on another host`)
  const { isClosed, changes } = await sourceState(services, input)
  if (source.hostId !== hostId) {
    await sourceInStorage(context)
    return { changes, isElsewhere: true }
  }
  if (isClosed) throw new Error('Another operation is using the source')
  return { changes, isElsewhere: false }
}

const sourceOf = (context: Context) =>
  context.results.check.isElsewhere ? sourceInStorage(context) : sourceHere(context)

async function sourceState({ database }: HostServices, { sourceId }: SyncOrder) {
  const state = await contentState(database.read, sourceId)
  if (!state) throw new PermanentFailure('The source was deleted')
  return state
}

async function directoryOf({ services }: Pick<Context, 'services'>, siteId: number) {
  const directory = await services.siteDirectories.ofSite(siteId)
  if (!directory) throw new PermanentFailure(`Site ${siteId} has no site directory on this host`)
  return contentPlace(siteId, directory)
}

async function prepareFiles(context: Context): Promise<void> {
  const { services, input, signal } = context
  if (input.parts.length === 0) return
  const [from, to] = [await sourceOf(context), await directoryOf(context, input.siteId)]
  const scope = scopeOf(input.parts)
  const bytes = await from.fileBytes()
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, bytes))
  const wanted = readdressed(from.files(scope), await addressChanges(context))
  await forGood(() => services.siteFiles.prepare(to, wanted, { scope, signal, onProgress }))
}

/** What of the source's addresses becomes the destination's. */
async function addressChanges(
  { services, input }: Context,
  addresses: typeof addressesOf = addressesOf,
): Promise<AddressChange[]> {
  const { database, config } = services
  const [source, hosted] = [await findSite(database.read, input.sourceId), await services.hostedSite(input.siteId)]
  if (!source || !hosted) throw new PermanentFailure('One of the two sites was deleted')
  return movedTo(hosted.address, await addresses(database.read, source, config))
}

async function loadDatabase(context: Context): Promise<void> {
  const { services, input, signal } = context
  if (!input.database) return
  const site = await findSite(services.database.read, input.siteId)
  const changes = await addressChanges(context, site?.hasMultisite ? mainAddressesOf : addressesOf)
  const [from, to] = [await sourceOf(context), await directoryOf(context, input.siteId)]
  await from.withDatabase((dump, bytes) => {
    const onProgress = (done: number) => context.progressBytes(done, Math.max(done, bytes))
    return services.siteDatabase.load(to, dump, { changes, signal, onProgress })
  })
}

async function switchOver(context: Context): Promise<void> {
  const { services, input, results } = context
  const { changes } = await sourceState(services, input)
  // a backup stays what it is
  if (changes !== results.check.changes && !results.check.isElsewhere)
    throw new PermanentFailure('The source was overwritten during the copy: try again')
  await closeForWork(context, input.siteId)
  const directory = await directoryOf(context, input.siteId)
  await services.siteFiles.switch(directory)
  await services.siteDatabase.switch(directory)
  if (input.parts.length > 0) await siteFilled(services, input.siteId)
}

/** Blogs of the source that have domains are folders of the destination. */
async function fitIfNetwork(context: Context): Promise<void> {
  const { services, input } = context
  const { siteId } = input
  const [site, hosted] = [await findSite(services.database.read, siteId), await services.hostedSite(siteId)]
  const directory = await services.siteDirectories.ofSite(siteId)
  if (!input.database || !site?.hasMultisite || !hosted || !directory) return
  // after a crash nothing holds PHP
  await closeForWork(context, siteId)
  const others = (await addressChanges(context)).map(({ from }) => from)
  await fitNetwork(services, hosted, directory, { isCopy: true, others, whileHeld: true })
}

async function switchBack(context: Undoing): Promise<void> {
  const { services, input, results } = context
  if (results.done || !(await services.siteDirectories.ofSite(input.siteId))) return
  await closeForWork(context, input.siteId)
  const directory = await directoryOf(context, input.siteId)
  await services.siteFiles.switchBack(directory)
  await services.siteDatabase.switchBack(directory)
}

async function openAgain(tx: Tx, context: Context): Promise<true> {
  const { input, operationId, now } = context
  const { siteId, environmentType } = input
  const site = await holdSite(tx, siteId)
  if (!site) return true
  const change = changeOfJob(tx, context)
  const event = { type: events.site_sync_success, data: eventData(input) }
  await change.record({
    action: actions['site.synced'],
    message: `Synced ${inWords(input)} from site ${input.sourceId}`,
    event,
  })
  await recordAtSource(tx, context, {
    action: actions['site.synced_out'],
    message: `Copied ${inWords(input)} to site ${siteId} by a sync`,
    event,
  })
  if (environmentType && environmentType !== site.environmentType)
    await changeSite(tx, siteId, { environmentType }, now())
  // the environment type, and the constants of a network, which name its tables
  if (environmentType || site.hasMultisite)
    await change.start(configureSite, { siteId }, { about: { ...site, siteId } })
  await openSite(tx, siteId, operationId, now())
  await purgeCaches(tx, siteId, { pages: 'all', files: true })
  return true
}

/** The same for the log and the webhooks of the source, unless it was deleted meanwhile. */
async function recordAtSource(
  tx: Tx,
  context: Pick<FailureContext<SyncOrder>, 'input' | 'accountId' | 'siteId' | 'now'>,
  record: Omit<ChangeRecord, 'about'>,
): Promise<void> {
  const source = await findSite(tx, context.input.sourceId)
  if (source) await changeOfJob(tx, context).record({ ...record, about: aboutSite(source) })
}

const eventData = ({ siteId, sourceId }: SyncOrder) => ({ from_site_id: sourceId, to_site_id: siteId })

/** What was laid beside goes, unless it is what the site was before: then it could not be put back, and stays for the next attempt. */
async function forgetPrepared(context: Undoing): Promise<void> {
  if (await wasUndone(context.services.database.read, context.operationId, 'switch')) await cleanUp(context)
}

/** What was laid beside the site, or kept beside it: at most a waste of room, which the next sync takes away. */
async function cleanUp(context: Undoing): Promise<void> {
  const { services, input, log } = context
  if (!(await services.siteDirectories.ofSite(input.siteId))) return
  const directory = await directoryOf(context, input.siteId)
  for (const content of [services.siteFiles, services.siteDatabase])
    await content
      .cleanUp(directory)
      .catch((error) => log.warn({ err: error, siteId: input.siteId }, 'could not remove the leftovers of a sync'))
}

async function tellOfFailure(tx: Tx, context: FailureContext<SyncOrder>): Promise<void> {
  const { input, operationId, canceled, error, now } = context
  await openSite(tx, input.siteId, operationId, now())
  // when all was done but the clearing up, it is no failure
  if (canceled || (await hasResult(tx, operationId, 'done'))) return
  const reason = (error ?? 'unknown').replace(/\.$/, '')
  const state = (await wasUndone(tx, operationId, 'switch'))
    ? 'Nothing was changed'
    : 'Stead could not roll back the change: try again, or restore a backup of this site'
  const event = { type: events.site_sync_failed, data: { ...eventData(input), reason } }
  await changeOfJob(tx, context).record({
    action: actions['site.sync_failed'],
    message: `The sync from site ${input.sourceId} failed: ${reason}. ${state}.`,
    event,
  })
  await recordAtSource(tx, context, {
    action: actions['site.sync_out_failed'],
    message: `The sync to site ${input.siteId} failed: ${reason}`,
    event,
  })
}
