import { type AddressChange, contentPlace } from '../../../hosting/site-database/database-content.ts'
import { readdressed } from '../../../hosting/site-files/stage/made-files.ts'
import type { Tx } from '../../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { needsRights } from '../../access/still-allowed.ts'
import { aboutSite, type ChangeRecord, changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import {
  addressesOf,
  changeSite,
  configureSite,
  contentReplacement,
  contentState,
  findSite,
  fitNetwork,
  mainAddressesOf,
  movedTo,
  openAfterFailure,
  requireDirectory,
  type Site,
  siteFilled,
  verifyContent,
} from '../../sites/public.ts'
import { actions, events } from '../actions.ts'
import { findBackup } from '../backup.store.ts'
import type { BackupKind } from '../backup.ts'
import { forGood } from '../restore/restore-check.ts'
import { keeping } from '../restore/undo-point.ts'
import { describeSync, kindsOf, rightsOfSync, SyncOrder, scopeOfSync } from './sync.ts'
import { sourceHere, sourceInStorage } from './sync-source.ts'

type Results = { check: Checked }
type Context<Known = Results> = StepContext<SyncOrder, HostServices, Known>

const replacement = contentReplacement<SyncOrder, Results>()
const overwrites = (kind: BackupKind) => (order: SyncOrder) => kindsOf(order).includes(kind)

/**
 * Overwrites parts of a site with those of another. It waits until backups of both exist. Slow steps prepare the
 * content next to the destination while that is open. Until `done`, rolling back returns the destination to its earlier
 * state. Afterwards nothing does.
 */
export const syncSitesJob = durableWith<HostServices>()({
  name: 'site.sync',
  input: SyncOrder,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  permission: needsRights((order: SyncOrder, { done }) => (done ? [] : rightsOfSync(order))),
  readsBackupsOf: ({ sourceId }) => [sourceId],
  steps: {
    check: replacement.open<Checked>({ run: check }),
    files: replacement.staged({ run: prepareFiles, weight: 4 }),
    database: replacement.staged({ run: loadDatabase, weight: 4 }),
    close: replacement.close,
    // Writing has stopped. Its automatic backup already has most of the content.
    keep_files: replacement.closed(keeping('fs', overwrites('fs'))),
    keep_database: replacement.closed({ ...keeping('db', overwrites('db')), weight: 2 }),
    // Tables that stay are copied from the live database, so it must not change.
    tables: replacement.closed(replacement.staged({ run: loadTables })),
    // Adds uploads to the destination from the time while it was open.
    files_again: replacement.closed(replacement.staged({ run: prepareFiles })),
    switch: replacement.switchOver(requireSameSource),
    network: replacement.closed({ run: fitToDestination }),
    answer: replacement.answering('a sync', async (context) => {
      if (!context.input.skipHttpCheck) await verifyContent(context, 'synced', await addressChanges(context))
    }),
    done: replacement.reopening(recordSync),
    settle: replacement.cleaningUp(),
  },
  failed: tellOfFailure,
})

interface Checked {
  /** The destination gets the database as it was then or later. Milliseconds UTC. */
  readonly at?: number
  /** How often the source's content had been replaced when this began. */
  readonly changes: number
  /** Whether the source is on another host. If so, its backups are copied. */
  readonly isElsewhere: boolean
}

async function check(context: Context<unknown>): Promise<Checked> {
  const { services, input } = context
  const { database, hostId } = services
  let takenAt = 0
  for (const { siteId, backupId } of input.backups) {
    const backup = await findBackup(database.read, siteId, backupId)
    if (backup?.state !== 'completed')
      throw new PermanentFailure(`Backup ${backupId} of site ${siteId} does not exist, so Stead overwrites nothing`)
    if (siteId === input.sourceId && backup.kind === 'db') takenAt = backup.takenAt ?? 0
  }
  const [source, site] = [await findSite(database.read, input.sourceId), await findSite(database.read, input.siteId)]
  if (!source || !site) throw new PermanentFailure('One of the two sites was deleted')
  if (site.hostId !== hostId) throw new PermanentFailure(`Site ${site.id} is on another host`)
  const { isClosed, changes } = await sourceState(services, input)
  if (source.hostId !== hostId) {
    await sourceInStorage(context)
    return { changes, isElsewhere: true, at: takenAt }
  }
  if (isClosed) throw new Error('Another operation is using the source')
  return { changes, isElsewhere: false, at: context.now() }
}

const sourceOf = (context: Context) =>
  context.results.check.isElsewhere ? sourceInStorage(context) : sourceHere(context)

async function sourceState({ database }: HostServices, { sourceId }: SyncOrder) {
  const state = await contentState(database.read, sourceId)
  if (!state) throw new PermanentFailure('The source was deleted')
  return state
}

const placeOf = async (context: Context) => contentPlace(context.input.siteId, await requireDirectory(context))

async function prepareFiles(context: Context): Promise<void> {
  const { services, input, signal } = context
  if (input.parts.length === 0) return
  const [from, to] = [await sourceOf(context), await placeOf(context)]
  const scope = scopeOfSync(input.parts)
  const bytes = await from.fileBytes()
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, bytes))
  const wanted = readdressed(from.files(scope), await addressChanges(context))
  await forGood(() => services.siteFiles.prepare(to, wanted, { scope, signal, onProgress }))
}

/** Returns how the source's addresses change to the destination's. */
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
  if (context.input.database === true) await loadFromSource(context)
}

async function loadTables(context: Context): Promise<void> {
  const { database } = context.input
  if (typeof database !== 'boolean') await loadFromSource(context, { tables: database })
}

async function loadFromSource(context: Context, only: { readonly tables?: readonly string[] } = {}): Promise<void> {
  const { services, input, signal } = context
  const site = await findSite(services.database.read, input.siteId)
  const changes = await addressChanges(context, site?.hasMultisite ? mainAddressesOf : addressesOf)
  const [from, to] = [await sourceOf(context), await placeOf(context)]
  await from.withDatabase((dump, bytes) => {
    const onProgress = (done: number) => context.progressBytes(done, Math.max(done, bytes))
    return services.siteDatabase.load(to, dump, { ...only, changes, signal, onProgress })
  })
}

/** @throws PermanentFailure when the source was overwritten since, because the copy would be half of each version */
async function requireSameSource({ services, input, results }: Context): Promise<void> {
  const { changes } = await sourceState(services, input)
  // A backup never changes.
  if (changes !== results.check.changes && !results.check.isElsewhere)
    throw new PermanentFailure('The source was overwritten during the copy: try again')
}

/** Restores the destination's own files, and turns blogs of the source that have domains into folders. */
async function fitToDestination(context: Context): Promise<void> {
  const { services, input } = context
  const { siteId } = input
  if (input.parts.length > 0) await siteFilled(services, siteId)
  const [site, hosted] = [await findSite(services.database.read, siteId), await services.hostedSite(siteId)]
  const directory = await services.siteDirectories.ofSite(siteId)
  if (!input.database || !site?.hasMultisite || !hosted || !directory) return
  const others = (await addressChanges(context)).map(({ from }) => from)
  await fitNetwork(services, hosted, directory, { isCopy: true, others, whileHeld: true })
}

async function recordSync(tx: Tx, context: Context, site: Site): Promise<void> {
  const { input, results, operationId, now } = context
  const { siteId, environmentType } = input
  const change = changeOfJob(tx, context)
  if (input.database === true)
    for (const { databaseReplaced } of context.services.siteHooks)
      await databaseReplaced?.(tx, { siteId, from: input.sourceId, at: results.check.at ?? 0, by: operationId })
  const event = { type: events.site_sync_success, data: eventData(input) }
  await change.record({
    action: actions['site.synced'],
    message: `Synced ${describeSync(input)} from site ${input.sourceId}`,
    event,
  })
  await recordAtSource(tx, context, {
    action: actions['site.synced_out'],
    message: `Copied ${describeSync(input)} to site ${siteId} by a sync`,
    event,
  })
  if (environmentType && environmentType !== site.environmentType)
    await changeSite(tx, siteId, { environmentType }, now())
  // Covers the environment type, and the constants of a network, which name its tables.
  if (environmentType || site.hasMultisite)
    await change.start(configureSite, { siteId }, { about: { ...site, siteId } })
}

/** Records the same for the log and the webhooks of the source, unless it was deleted meanwhile. */
async function recordAtSource(
  tx: Tx,
  context: Pick<FailureContext<SyncOrder>, 'input' | 'accountId' | 'siteId' | 'now'>,
  record: Omit<ChangeRecord, 'about'>,
): Promise<void> {
  const source = await findSite(tx, context.input.sourceId)
  if (source) await changeOfJob(tx, context).record({ ...record, about: aboutSite(source) })
}

const eventData = ({ siteId, sourceId }: SyncOrder) => ({ from_site_id: sourceId, to_site_id: siteId })

async function tellOfFailure(tx: Tx, context: FailureContext<SyncOrder>): Promise<void> {
  const { input, canceled } = context
  const failure = await openAfterFailure(tx, context)
  if (canceled) return
  const { site, reason } = failure
  const state = failure.isRolledBack
    ? 'Nothing was changed'
    : 'Stead could not roll back the change: try again, or restore a backup of this site'
  const event = { type: events.site_sync_failed, data: { ...eventData(input), reason } }
  const message = `The sync from site ${input.sourceId} failed: ${reason}. ${state}.`
  if (site) await changeOfJob(tx, context).record({ action: actions['site.sync_failed'], message, event })
  await recordAtSource(tx, context, {
    action: actions['site.sync_out_failed'],
    message: `The sync to site ${input.siteId} failed: ${reason}`,
    event,
  })
}
