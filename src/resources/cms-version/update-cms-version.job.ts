import Type from 'typebox'
import { CoreUnavailable } from '../../hosting/core-library/core-library.ts'
import { compareVersions, isStable } from '../../hosting/core-library/version.ts'
import { setCoreOfDirectory } from '../../hosting/site-directories/directory.store.ts'
import type { SiteDirectory } from '../../hosting/site-directories/site-directories.ts'
import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../platform/operations/definition.ts'
import { wasUndone } from '../../platform/operations/steps-of.ts'
import { contentPlace } from '../backups/take/take-backup.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { frontFault } from '../plugins/front-fault.ts'
import { upgradeBlogs } from '../sites/network/upgrade-blogs.ts'
import { changeSite, holdSite, openSite, purgeCaches } from '../sites/site.ts'
import { closeForWork, openAfterWork } from '../sites/switches/close-for-work.ts'
import { runSiteTask } from '../sites/wordpress/run-site-task.ts'
import { actions, events } from './actions.ts'
import { forgetFailure } from './failed-update.store.ts'
import { rememberThatItFailed } from './remember-failure.ts'
import { rootFiles, wantedRootFiles } from './root-files.ts'
import { SCHEDULE } from './security-release.ts'

const Order = Type.Object({
  siteId: Type.Integer(),
  version: Type.String(),
  channel: Type.Union([Type.Literal('stable'), Type.Literal('beta')]),
})
export type Order = Type.Static<typeof Order>

/** What is so before anything is changed. */
interface Before {
  readonly version: string
  /** Of the front page. */
  readonly fault: string | null
}

type Context = StepContext<Order, HostServices, { look: Before }>
/** Of an undo: `done` is there from the moment on from which there is no way back. */
type Undoing = StepContext<Order, HostServices, { look?: Before; done?: boolean }>

/** Bringing a large database to another release. */
const LONG_TASK_MS = 600_000

/**
 * Brings a site to another release of WordPress. The release is fetched, and its files are laid beside the site, while that goes on. Then the site is closed; its database is
 * copied, and the copy is what the new release upgrades. So everything is taken back by switching back, until `done`.
 */
export const updateDefinition = {
  input: Order,
  on: 'host',
  changeableBy: { site: 'change the CMS version' },
  attempts: 3,
  steps: {
    core: { run: unlessDone(fetchCore), weight: 3 },
    look: { run: unlessDone<Before>(look) },
    files: { run: unlessDone(prepareFiles), undo: forgetPrepared },
    close: {
      run: unlessDone((context) => closeForWork(context, context.input.siteId)),
      undo: (context: Undoing) => openAfterWork(context, context.input.siteId),
    },
    database: { run: unlessDone(copyDatabase), undo: forgetPrepared, weight: 3 },
    switch: { run: unlessDone(switchOver), undo: switchBack },
    upgrade: { run: unlessDone(upgrade), weight: 2 },
    blogs: { run: unlessDone(upgradeOthers) },
    answer: { run: unlessDone(seeItAnswer) },
    // without an undo: a retry finds that it is done
    done: { commit: openAgain },
    settle: { run: cleanUp },
  },
} as const

export const updateCmsVersionJob = durableWith<HostServices>()({
  name: 'site.update_cms_version',
  ...updateDefinition,
  failed: tellOfFailure,
})

/** A retry of what was canceled or failed after `done` has nothing to do but to clear up: the site has new content since. */
export function unlessDone<Result>(run: (context: Context) => Promise<Result>) {
  return async (context: StepContext<Order, HostServices>): Promise<Result> =>
    (context.results as Undoing['results']).done ? (null as Result) : run(context as Context)
}

async function directoryOf({ services, input }: Pick<Undoing, 'services' | 'input'>): Promise<SiteDirectory> {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) throw new PermanentFailure('The site has no site directory on this host')
  return directory
}

async function fetchCore({ services, input, signal }: Context): Promise<void> {
  await services.cores.ensure(input.version, { signal }).catch((error) => {
    throw error instanceof CoreUnavailable ? new PermanentFailure(error.message) : error
  })
}

/** @throws PermanentFailure for an older release than the site has, unless that is a beta: an order of the past that is retried, or a library of releases that is behind */
async function look(context: Context): Promise<Before> {
  const { coreVersion: version } = await directoryOf(context)
  const { version: wanted } = context.input
  if (isStable(version) && compareVersions(wanted, version) < 0)
    throw new PermanentFailure(`The site runs WordPress ${version}, which is newer than ${wanted}`)
  return { version, fault: (await frontFault(context.services, context.input.siteId)) ?? null }
}

/** Those that either release has at the top of the web root; whatever else lies there is the owner's. */
async function prepareFiles(context: Context): Promise<void> {
  const { services, input, results, signal } = context
  const { siteDirectories, siteFiles } = services
  const directory = await directoryOf(context)
  const [before, after] = [results.look.version, input.version].map((coreVersion) =>
    siteDirectories.corePath({ coreVersion }),
  )
  const paths = [...new Set([...(await rootFiles(before as string)), ...(await rootFiles(after as string))])]
  const options = { scope: { paths }, signal }
  await siteFiles.prepare(contentPlace(input.siteId, directory), wantedRootFiles(after as string), options)
}

async function copyDatabase(context: Context): Promise<void> {
  const { services, input, signal } = context
  await closeForWork(context, input.siteId)
  const directory = contentPlace(input.siteId, await directoryOf(context))
  const snapshot = await services.siteDatabase.snapshot(directory)
  try {
    const onProgress = (done: number) => context.progressBytes(done, Math.max(done, snapshot.estimatedBytes))
    await services.siteDatabase.load(directory, snapshot.dump({ signal }), { signal, onProgress })
  } finally {
    await snapshot.close()
  }
}

async function switchOver(context: Context): Promise<void> {
  const { services, input } = context
  await closeForWork(context, input.siteId)
  const directory = await directoryOf(context)
  await services.siteFiles.switch(contentPlace(input.siteId, directory))
  await services.siteDatabase.switch(contentPlace(input.siteId, directory))
  await runOn(context, directory, input.version)
}

async function switchBack(context: Undoing): Promise<void> {
  const { services, input, results } = context
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (results.done || !directory || !results.look) return
  await closeForWork(context, input.siteId)
  await services.siteFiles.switchBack(contentPlace(input.siteId, directory))
  await services.siteDatabase.switchBack(contentPlace(input.siteId, directory))
  await runOn(context, directory, results.look.version)
}

/** Which release is laid over the site's web root from its next process on. */
async function runOn(
  { input, transaction, now }: Pick<Undoing, 'input' | 'transaction' | 'now'>,
  directory: SiteDirectory,
  coreVersion: string,
): Promise<void> {
  await transaction(async (tx) => {
    await setCoreOfDirectory(tx, directory.id, coreVersion)
    if (await holdSite(tx, input.siteId)) await changeSite(tx, input.siteId, { coreVersion }, now())
  })
}

async function upgrade(context: Context): Promise<void> {
  const { services, input } = context
  // after a crash nothing holds PHP
  await closeForWork(context, input.siteId)
  const options = { whileHeld: true, timeoutMs: LONG_TASK_MS, refusal: 'The database cannot be upgraded' }
  await runSiteTask(services, input.siteId, 'upgrade-database', {}, options)
}

/** Of a network. */
async function upgradeOthers(context: Context): Promise<void> {
  await closeForWork(context, context.input.siteId)
  await upgradeBlogs(context, context.input.siteId, { whileHeld: true, timeoutMs: LONG_TASK_MS })
}

/** A site that did not answer before need not do so now. */
async function seeItAnswer(context: Context): Promise<void> {
  const { services, input, results, log } = context
  const { siteId } = input
  await closeForWork(context, siteId)
  await runSiteTask(services, siteId, 'flush-object-cache', {}, { whileHeld: true }).catch((error) =>
    log.warn({ err: error, siteId }, 'could not flush the object cache of a site after a WordPress update'),
  )
  const fault = await frontFault(services, siteId, { whileHeld: true })
  if (fault !== undefined && results.look.fault === null)
    throw new PermanentFailure(`The site does not respond with WordPress ${input.version}: ${fault}`)
  // nobody is let in before the site is open by its record
  services.pool.release(siteId)
}

async function openAgain(tx: Tx, context: StepContext<Order, HostServices, { look: Before }>): Promise<true> {
  const { input, operationId, results, source, now } = context
  const { siteId, version, channel } = input
  if (!(await holdSite(tx, siteId))) return true
  await changeSite(tx, siteId, { coreChannel: channel }, now())
  await forgetFailure(tx, siteId)
  const data = { from: results.look.version, to: version }
  await changeOfJob(tx, context).record({
    action: actions['wordpress.version_updated'],
    message: `Updated WordPress from ${data.from} to ${data.to}${source === SCHEDULE ? ' automatically, because it is a security release' : ''}`,
    event: { type: events.wp_version_changed, data },
  })
  await openSite(tx, siteId, operationId, now())
  await purgeCaches(tx, siteId, { pages: 'all', files: true })
  return true
}

/** What was laid beside goes, unless it is what the site was before: then it could not be put back, and stays for the next attempt. */
async function forgetPrepared(context: Undoing): Promise<void> {
  const { services, input, operationId } = context
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (directory && (await wasUndone(services.database.read, operationId, 'switch')))
    await cleanUpBoth(context, directory)
}

/** The site is open: what is left beside is at most a waste of room, and the next work takes it away. */
async function cleanUp(context: Undoing): Promise<void> {
  const { services, input, log } = context
  const directory = await services.siteDirectories.ofSite(input.siteId)
  if (!directory) return
  await cleanUpBoth(context, directory).catch((error) =>
    log.warn({ err: error, siteId: input.siteId }, 'could not remove the leftovers of a WordPress update'),
  )
}

async function cleanUpBoth({ services, input }: Undoing, directory: SiteDirectory): Promise<void> {
  await services.siteFiles.cleanUp(contentPlace(input.siteId, directory))
  await services.siteDatabase.cleanUp(contentPlace(input.siteId, directory))
}

async function tellOfFailure(tx: Tx, context: FailureContext<Order>): Promise<void> {
  const { input, operationId, canceled, now } = context
  await openSite(tx, input.siteId, operationId, now())
  if (canceled || !(await holdSite(tx, input.siteId))) return
  await rememberThatItFailed(tx, context)
  const reason = (context.error ?? 'unknown').replace(/\.$/, '')
  await changeOfJob(tx, context).record({
    action: actions['wordpress.version_failed'],
    message: `WordPress was not updated to ${input.version}: ${reason}`,
  })
}
