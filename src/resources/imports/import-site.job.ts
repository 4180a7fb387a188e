import { createReadStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import Type from 'typebox'
import { contentPlace } from '../../hosting/site-database/database-content.ts'
import { PREFIX_PLACEHOLDER } from '../../hosting/site-database/sql/prefixes.ts'
import type { WantedEntry } from '../../hosting/site-files/file-content.ts'
import { changeWpConfig } from '../../hosting/site-files/platform/wp-config-file.ts'
import { readdressed } from '../../hosting/site-files/stage/made-files.ts'
import { walkTree } from '../../hosting/site-files/walk.ts'
import { comparePages } from '../../hosting/site-imports/compare-pages.ts'
import { dumpOf } from '../../hosting/site-imports/stage-database.ts'
import { contentFolder } from '../../hosting/site-imports/stage-files.ts'
import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { needsRights } from '../access/still-allowed.ts'
import { copyingAhead, forGood, forgetFilesAhead, keeping, whatStays } from '../backups/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import {
  contentReplacement,
  findSite,
  fitDatabase,
  isInstalled,
  noNetwork,
  openAfterFailure,
  runSiteTask,
  siteConstants,
  siteFilled,
  verifyContent,
} from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { fetchAgain } from './fetch-again.ts'
import { changeImport, findImport } from './import.store.ts'
import { alwaysLeftOut, type ComparedPage, type ImportPlan, rightsOfImport } from './import.ts'
import { picturesOf } from './import-pictures.ts'
import { secretOfImport } from './old-site/fetch-old-site.ts'
import { folderOf } from './staging.ts'

const Order = Type.Object({
  siteId: Type.Integer(),
  importId: Type.Integer(),
  /** Paths below the web root: staged files that are not imported. */
  leaveOut: Type.Array(Type.String()),
  askedById: Type.Integer(),
  /** Only for a running old site: fetches changes first. */
  fetchAgain: Type.Optional(Type.Boolean()),
})
type Order = Type.Static<typeof Order>

type Results = { check: ImportPlan }
type Context = StepContext<Order, HostServices, Results>

const replacement = contentReplacement<Order, Results>()
const cleaningUp = replacement.cleaningUp(forgetFilesAhead)

const CONFIG = 'wp-config.php'

/**
 * Replaces a site with a staged one, like a restore but from the staging folder instead of a backup. Until `done`,
 * rolling back restores the site. Afterwards nothing does.
 */
export const importSite = durableWith<HostServices>()({
  name: 'site.import',
  input: Order,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  permission: needsRights((order: Order, { done }) => (done ? [] : rightsOfImport(order))),
  secret: async (tx, order) => (order.fetchAgain ? secretOfImport(tx, order) : undefined),
  steps: {
    fetch_again: replacement.open({ run: fetchAgain, weight: 3 }),
    check: replacement.open<ImportPlan>({ run: check }),
    copy_files: replacement.open(copyingAhead()),
    files: replacement.staged({ run: prepareFiles, weight: 4 }),
    database: replacement.staged({ run: loadDatabase, weight: 4 }),
    close: replacement.close,
    // Writing has stopped, so these contain everything that visitors wrote until now.
    keep_files: replacement.closed(keeping('fs')),
    keep_database: replacement.closed({ ...keeping('db'), weight: 2 }),
    // Adds uploads from the time while the site was open.
    files_again: replacement.closed(replacement.staged({ run: prepareFiles })),
    switch: replacement.switchOver(),
    fit: replacement.closed({ run: fitToSite }),
    answer: replacement.answering('an import', (context) =>
      verifyContent(context, 'imported', context.results.check.addresses),
    ),
    done: replacement.reopening(recordImport),
    // Deletes the staged files even if the comparison fails for good.
    compare: { run: compare, undo: cleanUpAll },
    settle: { run: cleanUpAll },
  },
  failed: tellOfFailure,
})

const folderFor = ({ services, input }: Pick<Context, 'services' | 'input'>): string =>
  folderOf(services.config.dataDir, input.importId)

/**
 * Checks that everything needed exists. Changes nothing.
 * @throws PermanentFailure when something is missing
 */
async function check(context: StepContext<Order, HostServices>): Promise<ImportPlan> {
  const { services, input } = context
  const site = await findSite(services.database.read, input.siteId)
  const directory = await services.siteDirectories.ofSite(input.siteId)
  const hosted = await services.hostedSite(input.siteId)
  if (!site || !directory || !hosted || !isInstalled(site))
    throw new PermanentFailure('The site is not there, or is not installed')
  const plan = (await findImport(services.database.read, input.siteId, input.importId))?.plan
  const folder = folderFor(context)
  if (!plan || !existsSync(contentFolder(folder)) || !existsSync(dumpOf(folder)))
    throw new PermanentFailure('The staged data of the import is gone. Create the import again')
  const [blocker] = plan.blockers
  if (blocker) throw new PermanentFailure(blocker)
  if (site.hasMultisite) throw new PermanentFailure('The site is a network of sites, which cannot be imported into')
  // It may have failed before.
  await context.transaction((tx) => changeImport(tx, input.importId, { state: 'importing', error: null }))
  // The site's domain may have changed since.
  const froms = plan.addresses.map(({ from }) => from)
  const addresses = [...new Set([...froms, plan.to.address])].filter(
    (from) => from !== hosted.address && froms.includes(from),
  )
  return { ...plan, addresses: addresses.map((from) => ({ from, to: hosted.address })) }
}

async function directoryOf({ services, input }: Pick<Context, 'services' | 'input'>) {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new PermanentFailure('The site is not there, or is not installed')
  return { directory, content: contentPlace(input.siteId, directory) }
}

async function prepareFiles(context: Context): Promise<void> {
  const { services, input, signal, results } = context
  const plan = results.check
  const { directory, content } = await directoryOf(context)
  const stays = await whatStays(services, directory, { backupCore: null, keepsConfig: false })
  const config = await configWith(context, plan.database.prefix)
  const scope = { paths: [...(config ? [CONFIG] : []), 'wp-content'], except: stays }
  const staged = { paths: ['wp-content'], except: [...stays, ...input.leaveOut, ...alwaysLeftOut(plan)] }
  async function* wanted(): AsyncGenerator<WantedEntry> {
    if (config) yield config
    yield* stagedFiles(contentFolder(folderFor(context)), staged, signal)
  }
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, plan.files.bytes))
  const entries = readdressed(wanted(), plan.addresses)
  await forGood(() => services.siteFiles.prepare(content, entries, { scope, signal, onProgress }))
}

async function* stagedFiles(
  root: string,
  scope: { paths: readonly string[]; except: readonly string[] },
  signal: AbortSignal,
): AsyncGenerator<WantedEntry> {
  for await (const entry of walkTree(root, { scope, granularityMs: 0, signal }))
    yield entry.kind === 'file' ? { ...entry, open: async () => createReadStream(join(root, entry.path)) } : entry
}

/** Returns the site's own wp-config.php with the prefix of the imported tables, or undefined if it already has that. */
async function configWith(context: Context, prefix: string): Promise<WantedEntry | undefined> {
  const { services, signal } = context
  const { content } = await directoryOf(context)
  for await (const entry of services.siteFiles.walk(content, { scope: { paths: [CONFIG] }, signal })) {
    if (entry.kind !== 'file' || entry.sizeBytes > 1 << 20) break
    const pieces: Uint8Array[] = []
    for await (const piece of (await entry.open()) ?? []) pieces.push(Uint8Array.from(piece))
    const before = Buffer.concat(pieces).toString()
    const after = before.replace(/^([ \t]*\$table_prefix\s*=\s*)(['"])\w{0,64}\2\s*;/m, `$1'${prefix}';`)
    if (after === before) {
      if (new RegExp(`\\$table_prefix\\s*=\\s*'${prefix}'`).test(before)) return undefined
      break
    }
    const text = Buffer.from(after)
    const stamp = `${entry.stamp}.${prefix}`
    return { ...entry, sizeBytes: text.length, stamp, open: async () => Readable.from([text]) }
  }
  throw new PermanentFailure('The site has no wp-config.php that names the prefix of its tables')
}

/** @returns a description of what the database lacks of the dump */
async function loadDatabase(context: Context): Promise<{ warning: string } | undefined> {
  const { services, signal, results } = context
  const { database, addresses } = results.check
  const { content } = await directoryOf(context)
  const dump = createReadStream(dumpOf(folderFor(context)), { highWaterMark: 1 << 18 })
  const foreign = { prefixes: [{ from: PREFIX_PLACEHOLDER, to: database.prefix }] }
  const onProgress = (done: number) => context.progressBytes(done, Math.max(done, database.bytes))
  const { warning } = await forGood(() =>
    services.siteDatabase.load(content, dump, { changes: addresses, foreign, signal, onProgress }),
  ).finally(() => dump.destroy())
  return warning === undefined ? undefined : { warning }
}

/** Adapts imported content to this site: its constants, its WordPress release, its address. */
async function fitToSite(context: Context): Promise<void> {
  const { services, input } = context
  const site = await findSite(services.database.read, input.siteId)
  const { directory } = await directoryOf(context)
  if (!site) throw new PermanentFailure('The site was deleted')
  await changeWpConfig(directory.path, directory.uid, {
    ...(await services.siteDirectories.databases.constants(directory)),
    ...siteConstants(site),
    ...noNetwork,
  })
  await siteFilled(services, site.id)
  const refusal = 'The imported database does not fit'
  await fitDatabase(context, refusal)
  await runSiteTask(services, site.id, 'use-http', {}, { whileHeld: true, refusal })
}

async function recordImport(tx: Tx, context: Context): Promise<void> {
  const { importId } = context.input
  const { from } = context.results.check
  const replaced = { siteId: context.input.siteId, from: null, by: context.operationId }
  for (const { databaseReplaced } of context.services.siteHooks) await databaseReplaced?.(tx, replaced)
  await changeImport(tx, importId, { state: 'imported', error: null })
  await changeOfJob(tx, context).record({
    action: actions['site.imported'],
    message: `Imported ${from.home}`,
    event: { type: events.site_imported, data: { import_id: importId, from: from.home } },
  })
}

/** Compares the new site with the old one, if that still responds. Informs only, and never stops the import. */
async function compare(context: Context): Promise<void> {
  const { services, input, results, signal, log } = context
  const site = await findSite(services.database.read, input.siteId)
  const hosted = await services.hostedSite(input.siteId)
  if (!site || !hosted) return
  const pages: ComparedPage[] = await comparePages({
    ...{ pool: services.pool, site: hosted, oldAddress: results.check.from.home, signal },
    allowPrivate: services.config.allowPrivateFetch,
    comparePictures: picturesOf(services, site, context.now),
  }).catch((error) => {
    signal.throwIfAborted()
    log.warn({ err: error, siteId: input.siteId }, 'an imported site was not compared with the old one')
    return []
  })
  await context.transaction((tx) => changeImport(tx, input.importId, { comparison: pages }))
}

async function cleanUpAll(context: Parameters<typeof cleaningUp.run>[0]): Promise<void> {
  await cleaningUp.run(context)
  await rm(folderFor(context), { recursive: true, force: true })
}

async function tellOfFailure(tx: Tx, context: FailureContext<Order>): Promise<void> {
  const { siteId, importId } = context.input
  const failure = await openAfterFailure(tx, context)
  if (!failure.site) return
  const { reason } = failure
  const found = await findImport(tx, siteId, importId)
  // Its staged data still exists, so it can be started again.
  if (found) await changeImport(tx, importId, { state: 'ready', error: `${reason}.` })
  if (context.canceled) return
  const state = failure.isRolledBack
    ? 'The site did not change'
    : 'The site could not be restored: retry the operation, or restore a backup'
  await changeOfJob(tx, context).record({
    action: actions['site.import_failed'],
    message: `The import failed: ${reason}. ${state}.`,
    event: { type: events.site_import_failed, data: { import_id: importId, reason } },
  })
}
