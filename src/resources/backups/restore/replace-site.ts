import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { wasUndone } from '../../../platform/operations/steps-of.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { upgradeBlogs } from '../../sites/network/upgrade-blogs.ts'
import { hostOfUrl } from '../../sites/site.ts'
import { closeForWork } from '../../sites/switches/close-for-work.ts'
import { runSiteTask } from '../../sites/wordpress/run-site-task.ts'
import { contentPlace } from '../take/take-backup.ts'
import { copyAhead, forgetAhead, forgetUnfinished } from './undo-point.ts'

/*
 * Steps of operations that put other content in a site's place: a restore, an import. What is new is prepared beside the site, which is then
 * closed, kept for the undo, and switched. Until the step `done` all of it is taken back by these undos.
 */

/** What all of them are given. */
export interface ReplaceOrder {
  readonly siteId: number
}

type Context<Order extends ReplaceOrder> = StepContext<Order, HostServices>
/** `done` is there from the moment on from which there is no way back. */
type Undoing = StepContext<ReplaceOrder, HostServices, { readonly done?: boolean }>

/**
 * Makes steps of an operation pass when it is done: a retry of what was canceled or failed after `done` has nothing to do but to clear up, because
 * the site has new content since.
 */
export const passingWhenDone =
  <Order extends ReplaceOrder, Results>() =>
  <Result>(run: (context: StepContext<Order, HostServices, Results>) => Promise<Result>) =>
  async (context: StepContext<Order, HostServices>): Promise<Result> =>
    (context.results as Undoing['results']).done
      ? (null as Result)
      : run(context as StepContext<Order, HostServices, Results>)

async function directoryOf({ services, input }: Pick<Undoing, 'services' | 'input'>) {
  const directory = await services.siteDirectories.ofSite(input.siteId)
  return directory && contentPlace(input.siteId, directory)
}

/** @throws PermanentFailure when the site has gone */
async function requireDirectory(context: Pick<Undoing, 'services' | 'input'>) {
  const directory = await directoryOf(context)
  if (!directory) throw new PermanentFailure('The site does not exist or is not installed')
  return directory
}

/** Most of the undo point of the files: what it has to add when the site is closed is what has changed since. */
export async function copyFilesAhead(context: Context<ReplaceOrder>): Promise<void> {
  const { services, operationId, signal, progressBytes } = context
  const directory = await requireDirectory(context)
  const { bytes } = await services.siteFiles.size(directory)
  const onProgress = (done: number) => progressBytes(done, Math.max(done, bytes))
  await copyAhead(services, { home: directory, operationId, signal, onProgress })
}

export async function forgetFilesAhead({ services, input, operationId }: Undoing): Promise<void> {
  await forgetAhead(services, input.siteId, operationId)
}

export async function forgetPoints(context: Undoing): Promise<void> {
  await forgetUnfinished(context, context.input.siteId)
}

/** What was laid beside goes, unless it is what the site was before: then it could not be put back, and stays for the next attempt. */
export async function forgetPrepared(context: Undoing): Promise<void> {
  if (await wasUndone(context.services.database.read, context.operationId, 'switch')) await cleanUpBoth(context)
}

export async function switchOver(context: Context<ReplaceOrder>): Promise<void> {
  const { services, input } = context
  const directory = await requireDirectory(context)
  await closeForWork(context, input.siteId)
  await services.siteFiles.switch(directory)
  await services.siteDatabase.switch(directory)
}

export async function switchBack(context: Undoing): Promise<void> {
  const { services, input, results } = context
  const directory = await directoryOf(context)
  if (results.done || !directory) return
  await closeForWork(context, input.siteId)
  await services.siteFiles.switchBack(directory)
  await services.siteDatabase.switchBack(directory)
}

/** Rewriting addresses in a large database, or bringing it to another release. */
export const LONG_TASK_MS = 600_000

/**
 * Brings the tables of a closed site to the release of WordPress that it runs, and to its address.
 * @param refusal what is said when WordPress refuses
 */
export async function fitDatabase(context: Context<ReplaceOrder>, refusal: string): Promise<void> {
  const { services, input, signal, progress } = context
  const { siteId } = input
  const hosted = await services.hostedSite(siteId)
  if (!hosted) throw new PermanentFailure('The site was deleted')
  const options = { whileHeld: true, timeoutMs: LONG_TASK_MS, refusal }
  await runSiteTask(services, siteId, 'upgrade-database', {}, options)
  await upgradeBlogs({ services, signal, progress }, siteId, options)
  const { home: url } = await runSiteTask(services, siteId, 'site-title', {}, options)
  const from = hostOfUrl(url)
  if (from && from !== hosted.address)
    await runSiteTask(services, siteId, 'replace-address', { from, to: hosted.address }, options)
}

/** The site has its new content and is open: what is left beside is at most a waste of room, and the next work takes it away. */
export async function cleanUp(context: Undoing): Promise<void> {
  const { log, input } = context
  const clearUp = () => Promise.all([cleanUpBoth(context), forgetFilesAhead(context)])
  await clearUp().catch((error) =>
    log.warn({ err: error, siteId: input.siteId }, 'could not remove the leftovers of a content change'),
  )
}

async function cleanUpBoth(context: Undoing): Promise<void> {
  const directory = await directoryOf(context)
  if (!directory) return
  await context.services.siteFiles.cleanUp(directory)
  await context.services.siteDatabase.cleanUp(directory)
}
