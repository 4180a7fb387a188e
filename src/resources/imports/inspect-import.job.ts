import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import Type from 'typebox'
import { ArchiveRefused } from '../../hosting/archives/unpack-zip.ts'
import { lookAtContent, type StagedContent } from '../../hosting/site-imports/look-at-content.ts'
import { type StagedDatabase, stageDatabase } from '../../hosting/site-imports/stage-database.ts'
import {
  contentFolder,
  dropUnpacked,
  type ImportSource,
  type StagedFiles,
  stageFiles,
} from '../../hosting/site-imports/stage-files.ts'
import type { Tx } from '../../platform/db/database.ts'
import { FetchError, fetchToFile } from '../../platform/fetch/fetch-public.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { needsRights } from '../access/still-allowed.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { holdSite } from '../sites/public.ts'
import { actions } from './actions.ts'
import { planOf } from './build-plan.ts'
import { changeImport, findImport, stagedImportOf } from './import.store.ts'
import { type ImportPlan, rightsOfImport } from './import.ts'
import { importSite } from './import-site.job.ts'
import { fetchOldSite, secretOfImport } from './old-site/fetch-old-site.ts'
import { fetchedIn, folderOf, removeForgotten, stagingBounds, uploadedIn } from './staging.ts'

const Order = Type.Object({ siteId: Type.Integer(), importId: Type.Integer(), askedById: Type.Integer() })
type Order = Type.Static<typeof Order>

type Context<Results = unknown> = StepContext<Order, HostServices, Results>

/** Time limit for a whole archive. */
const FETCH_MS = 3 * 3_600_000

/**
 * Fetches the archive of an import, unpacks it next to the site, and creates a plan. Does not touch the site, not even
 * its PHP.
 */
export const inspectImport = durableWith<HostServices>()({
  name: 'import.inspect',
  input: Order,
  on: 'host',
  changeableBy: { site: 'restore the site' },
  attempts: 3,
  atOnce: 2,
  permission: needsRights(rightsOfImport),
  secret: secretOfImport,
  steps: {
    fetch: { run: fetchSources, undo: forgetStaged, weight: 4 },
    unpack: { run: unpack, weight: 4 },
    database: { run: lookAtDatabase, weight: 3 },
    plan: { run: makePlan },
    ready: { commit: ready, pointOfNoReturn: true },
    // The sources are no longer needed, and take as much space again.
    tidy: { run: dropSources },
  },
  failed: tellOfFailure,
})

const folderFor = ({ services, input }: Pick<Context, 'services' | 'input'>): string =>
  folderOf(services.config.dataDir, input.importId)

/** @throws PermanentFailure when the site or the import was deleted */
async function requireImport({ services, input }: Pick<Context, 'services' | 'input'>) {
  const found = await findImport(services.database.read, input.siteId, input.importId)
  if (!found) throw new PermanentFailure('The import was deleted')
  return found
}

/**
 * Marks an import as being inspected again, because it may have failed before.
 * @throws PermanentFailure when the site has another one by now
 */
async function takeUpAgain({ input, transaction }: Context): Promise<void> {
  const { siteId, importId } = input
  await transaction(async (tx) => {
    const other = await stagedImportOf(tx, siteId)
    if (other && other.id !== importId) throw new PermanentFailure(`The site has import ${other.id} by now`)
    await changeImport(tx, importId, { state: 'inspecting', error: null })
  })
}

/** @returns what the fetch from a running old site has already staged */
async function fetchSources(context: Context): Promise<StagedFiles | null> {
  const { services, signal, progressBytes } = context
  const found = await requireImport(context)
  const { sources } = found
  await takeUpAgain(context)
  await removeForgotten(services)
  if (found.live) return fetchOldSite(context, found, folderFor(context))
  const folder = fetchedIn(folderFor(context))
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { maxBytes } = stagingBounds(services.config)
  let doneBytes = 0
  for (const [index, url] of sources.entries()) {
    const into = join(folder, String(index))
    const { sizeBytes } = await fetchToFile(url, into, {
      allowPrivate: services.config.allowPrivateFetch,
      maxBytes: Math.max(1, maxBytes - doneBytes),
      timeoutMs: FETCH_MS,
      idleTimeoutMs: 60_000,
      signal,
      onProgress: ({ receivedBytes, totalBytes }) =>
        progressBytes(doneBytes + receivedBytes, doneBytes + (totalBytes ?? receivedBytes)),
    }).catch((error) => {
      throw error instanceof FetchError ? new PermanentFailure(error.message) : error
    })
    doneBytes += sizeBytes
  }
  return null
}

/** Returns the file name from an address. The parts of an UpdraftPlus set are recognized by their names. */
const nameOfUrl = (url: string): string => {
  try {
    return decodeURIComponent(basename(new URL(url).pathname)) || 'archive'
  } catch {
    return 'archive'
  }
}

async function sourcesOf(context: Context): Promise<ImportSource[]> {
  const { sources, uploads } = await requireImport(context)
  const folder = folderFor(context)
  if (!uploads)
    return sources.map((url, index) => ({ name: nameOfUrl(url), path: join(fetchedIn(folder), String(index)) }))
  const found = uploads.map(({ name, number, bytes }) => ({
    name,
    path: join(uploadedIn(folder), String(number)),
    bytes,
  }))
  for (const { path, bytes } of found)
    if ((await stat(path).catch(() => undefined))?.size !== bytes)
      throw new PermanentFailure('The uploaded files are gone. Create the import again')
  return found
}

async function unpack(context: Context<{ fetch: StagedFiles | null }>): Promise<StagedFiles> {
  if (context.results.fetch) return context.results.fetch
  const { services, signal, progressBytes } = context
  const sources = await sourcesOf(context)
  const bounds = stagingBounds(services.config)
  const onProgress = (done: number) => progressBytes(done, Math.max(done, bounds.maxBytes / 100))
  return refused(() => stageFiles(folderFor(context), sources, { ...bounds, signal, onProgress }))
}

async function lookAtDatabase(context: Context<{ unpack: StagedFiles }>): Promise<StagedDatabase> {
  const { services, signal, results } = context
  return refused(() => stageDatabase(folderFor(context), results.unpack, { ...stagingBounds(services.config), signal }))
}

type Looked = Context<{ unpack: StagedFiles; database: StagedDatabase }>

async function makePlan(context: Looked): Promise<ImportPlan> {
  const { signal, results } = context
  const folder = folderFor(context)
  const content: StagedContent = await lookAtContent(contentFolder(folder), signal)
  return planOf(context.services, context.input.siteId, { ...results, content })
}

async function dropSources(context: Context): Promise<void> {
  const folder = folderFor(context)
  await dropUnpacked(folder)
  for (const each of [fetchedIn(folder), uploadedIn(folder)]) await rm(each, { recursive: true, force: true })
}

/** Turns errors in an archive into permanent ones, because a retry cannot solve them. */
async function refused<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof ArchiveRefused
      ? new PermanentFailure(`The archive cannot be imported: ${error.message}`, { cause: error })
      : error
  }
}

async function ready(tx: Tx, context: Context<{ plan: ImportPlan }>): Promise<true> {
  const { input, results, operationId } = context
  const { siteId, importId } = input
  const { plan } = results
  const [site, found] = [await holdSite(tx, siteId), await findImport(tx, siteId, importId)]
  if (!site || !found) return true
  const change = changeOfJob(tx, context)
  const starts = found.starts && plan.blockers.length === 0
  await change.record({
    action: actions['import.inspected'],
    message: `Inspected the archive of ${plan.from.home}: ${plan.files.count} files, ${plan.database.tables} tables`,
  })
  const about = { accountId: site.accountId, siteId, hostId: site.hostId }
  const next = starts
    ? await change.start(importSite, { ...input, leaveOut: plan.leftOut.map(({ path }) => path) }, { about })
    : operationId
  await changeImport(tx, importId, { plan, error: null, state: starts ? 'importing' : 'ready', operationId: next })
  return true
}

async function forgetStaged(context: Context): Promise<void> {
  const folder = folderFor(context)
  // Uploads stay for another attempt, until they expire.
  for (const name of await readdir(folder).catch(() => []))
    if (join(folder, name) !== uploadedIn(folder)) await rm(join(folder, name), { recursive: true, force: true })
}

async function tellOfFailure(tx: Tx, context: FailureContext<Order>): Promise<void> {
  const { siteId, importId } = context.input
  const found = (await holdSite(tx, siteId)) && (await findImport(tx, siteId, importId))
  if (!found) return
  const reason = (context.error ?? 'canceled').replace(/\.$/, '')
  // The user may have to install its plugin first.
  const state = found.live?.type === 'plugin' && !context.canceled ? 'waiting' : 'failed'
  await changeImport(tx, importId, { state, error: `${reason}.` })
  if (context.canceled) return
  await changeOfJob(tx, context).record({
    action: actions['import.inspection_failed'],
    message: `The import was not inspected: ${reason}`,
  })
}
