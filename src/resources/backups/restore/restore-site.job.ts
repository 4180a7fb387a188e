import { type AddressChange, contentPlace } from '../../../hosting/site-database/database-content.ts'
import { changeWpConfig } from '../../../hosting/site-files/platform/wp-config-file.ts'
import { readdressed } from '../../../hosting/site-files/stage/made-files.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { durableWith, type FailureContext, PermanentFailure } from '../../../platform/operations/definition.ts'
import { needsRights } from '../../access/still-allowed.ts'
import { changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import {
  addressesOf,
  changeSite,
  configureSite,
  contentReplacement,
  findSite,
  fitDatabase,
  fitNetwork,
  noNetwork,
  openAfterFailure,
  type Site,
  siteConstants,
  siteFilled,
  verifyContent,
  writtenAddressOf,
} from '../../sites/public.ts'
import { actions, events } from '../actions.ts'
import { describeRestore, RestoreOrder, rightsOfRestore, scopeOfRestore } from './restore.ts'
import {
  type Checked,
  checkRestore,
  forGood,
  type RestoreContext,
  sourceRepository,
  storedName,
  targetSite,
} from './restore-check.ts'
import { wantedFiles } from './restore-content.ts'
import { tellOfRestore } from './restore-mail.ts'
import { copyingAhead, forgetFilesAhead, keeping } from './undo-point.ts'

type Results = { check: Checked }
type Context = RestoreContext<Results>

const replacement = contentReplacement<RestoreOrder, Results>()
const hasFiles = ({ filesId }: RestoreOrder) => filesId !== null
const hasDatabase = ({ databaseId }: RestoreOrder) => databaseId !== null

/**
 * Resets a site's files, its database, or both to the content of backups. Slow steps prepare the content next to the
 * site while the site is open. Until `done`, rolling back returns the site to its earlier state. Afterwards nothing
 * does.
 */
export const restoreSite = durableWith<HostServices>()({
  name: 'site.restore',
  input: RestoreOrder,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  permission: needsRights((order: RestoreOrder, { done }) => (done ? [] : rightsOfRestore(order))),
  readsBackupsOf: ({ sourceId }) => [sourceId],
  steps: {
    check: replacement.open<Checked>({ run: checkRestore }),
    copy_files: replacement.open(copyingAhead(hasFiles)),
    files: replacement.staged({ run: prepareFiles, weight: 4 }),
    database: replacement.staged({ run: (context) => loadIf(context, !context.input.tables), weight: 4 }),
    close: replacement.close,
    // Writing has stopped, so these contain everything that visitors wrote until now.
    keep_files: replacement.closed(keeping('fs', hasFiles)),
    keep_database: replacement.closed({ ...keeping('db', hasDatabase), weight: 2 }),
    // Tables that stay are copied from the live database, so it must not change.
    tables: replacement.closed(replacement.staged({ run: (context) => loadIf(context, context.input.tables) })),
    // Adds uploads from the time while the site was open.
    files_again: replacement.closed(replacement.staged({ run: prepareFiles })),
    switch: replacement.switchOver(),
    fit: replacement.closed({ run: fitToSite }),
    answer: replacement.answering('a restore', async (context) =>
      verifyContent(context, 'restored', await addressChanges(context)),
    ),
    done: replacement.reopening(recordRestore),
    settle: replacement.cleaningUp(forgetFilesAhead),
  },
  failed: tellOfFailure,
})

const directoryOf = async (context: Pick<Context, 'services' | 'input'>) => {
  const { directory } = await targetSite(context)
  return contentPlace(context.input.siteId, directory)
}

async function prepareFiles(context: Context): Promise<void> {
  const { services, input, signal, results } = context
  const { files } = results.check
  if (!files || input.filesId === null) return
  const scope = scopeOfRestore(input, files.stays)
  const wanted = readdressed(
    wantedFiles(sourceRepository(context), await storedName(context, input.filesId), scope),
    await addressChanges(context),
  )
  const onProgress = (done: number) => context.progressBytes(done, files.bytes)
  const directory = await directoryOf(context)
  await forGood(() => services.siteFiles.prepare(directory, wanted, { scope, signal, onProgress }))
}

/** Returns the address changes if the backup is another site's. */
async function addressChanges({ services, input }: Context): Promise<AddressChange[]> {
  const from = await writtenAddressOf(services.database.read, input.sourceId)
  const to = await writtenAddressOf(services.database.read, input.siteId)
  return from && to && from !== to ? [{ from, to }] : []
}

/**
 * Loads the database if it is time.
 * @returns a description of what the database lacks of the backup
 */
async function loadIf(context: Context, isTime: unknown): Promise<{ warning: string } | undefined> {
  const { services, input, signal, results } = context
  const { database } = results.check
  if (!isTime || !database || input.databaseId === null) return undefined
  const content = sourceRepository(context).readStream(await storedName(context, input.databaseId))
  const changes = await addressChanges(context)
  const directory = await directoryOf(context)
  const { warning } = await forGood(() =>
    services.siteDatabase.load(directory, content, {
      ...(input.tables && { tables: input.tables }),
      ...(changes.length > 0 && { changes }),
      signal,
      onProgress: (done) => context.progressBytes(done, database.bytes),
    }),
  )
  return warning === undefined ? undefined : { warning }
}

/** Adapts restored content to this site: its constants, its WordPress release, its address. */
async function fitToSite(context: Context): Promise<void> {
  const { services, input } = context
  const { site, directory } = await targetSite(context)
  const hosted = await services.hostedSite(site.id)
  if (!hosted) throw new PermanentFailure('The site was deleted')
  await changeWpConfig(directory.path, directory.uid, {
    ...(await services.siteDirectories.databases.constants(directory)),
    ...siteConstants(site),
    ...(site.hasMultisite ? { DOMAIN_CURRENT_SITE: hosted.address } : noNetwork),
  })
  if (input.filesId !== null) await siteFilled(services, site.id)
  if (input.databaseId === null) return
  if (site.hasMultisite)
    await fitNetwork(services, hosted, directory, { ...(await fromWhere(context)), whileHeld: true })
  await fitDatabase(context, 'The restored database does not match')
}

/**
 * Returns whether the network's tables are a copy from another site, with that site's addresses. If they are the site's
 * own, the domains of its blogs are too.
 */
async function fromWhere({ services, input }: Context): Promise<{ isCopy: boolean; others: string[] }> {
  const { database, config } = services
  const source = input.sourceId === input.siteId ? undefined : await findSite(database.read, input.sourceId)
  const others = source ? await addressesOf(database.read, source, config) : []
  return { isCopy: input.sourceId !== input.siteId, others }
}

async function recordRestore(tx: Tx, context: Context, site: Site): Promise<void> {
  const { input, now } = context
  const { siteId, undoOf, sourceId } = input
  if (hasDatabase(input))
    for (const { databaseReplaced } of context.services.siteHooks)
      await databaseReplaced?.(tx, { siteId, from: sourceId, by: context.operationId, undoOf })
  const what = restored(context.results.check, input)
  const change = changeOfJob(tx, context)
  const undone = undoOf === undefined ? '' : ` This undoes operation ${undoOf}.`
  await change.record({
    action: actions['site.restored'],
    message: `Restored ${what}${sourceId === siteId ? '' : ` of site ${sourceId}`}.${undone}`,
    event: { type: events.site_restored, data: eventData(input) },
  })
  await tellOfRestore(tx, { site, order: input, outcome: { what }, now: now() })
  const { from, to } = input.environment ?? {}
  if (to && site.environmentType === from) await changeSite(tx, siteId, { environmentType: to }, now())
  // Covers the environment type, and the constants of a network, which name its tables.
  if (to || site.hasMultisite) await change.start(configureSite, { siteId }, { about: { ...site, siteId } })
}

const restored = ({ files, database }: Checked, order: RestoreOrder) =>
  describeRestore({ files: files?.takenAt, database: database?.takenAt }, order)

const eventData = ({ sourceId, filesId, databaseId }: RestoreOrder) => ({
  from_site_id: sourceId,
  filesystem_id: filesId,
  database_id: databaseId,
})

async function tellOfFailure(tx: Tx, context: FailureContext<RestoreOrder>): Promise<void> {
  const { input, canceled, now } = context
  const failure = await openAfterFailure(tx, context)
  if (!failure.site || canceled) return
  const { site, reason } = failure
  const state = failure.isRolledBack
    ? 'Nothing was changed'
    : 'Stead could not roll back the change: try again, or restore another backup'
  await changeOfJob(tx, context).record({
    action: actions['site.restore_failed'],
    message: `The site could not be restored: ${reason}. ${state}.`,
    event: { type: events.site_restore_failed, data: { ...eventData(input), reason } },
  })
  await tellOfRestore(tx, { site, order: input, outcome: { reason, state }, now: now() })
}
