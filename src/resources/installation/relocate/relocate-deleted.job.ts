import { exchangeForCopy, findCopy, insertCopy, nameOfSite } from '../../../hosting/site-directories/directory.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { bindToHost } from '../../../platform/operations/host-operations.ts'
import { resultOfStep } from '../../../platform/operations/steps-of.ts'
import { aheadOf, copyingAhead, forgetFilesAhead, takeBackup } from '../../backups/public.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { holdDeletedSite, type Site, setHost } from '../../sites/public.ts'
import { behindOf, forgetBehind } from './moving-database.ts'
import { receiveFiles } from './receive-site.job.ts'
import { findRunningHost } from './relocation.store.ts'
import { awaitNewHost, RelocateOrder } from './relocation.ts'
import { removeCopy } from './remove-copy.job.ts'

interface Results {
  place: { directoryId: number }
  ask: { operationId: number }
}
type Context<Known = unknown> = StepContext<RelocateOrder, HostServices, Known>

/** A commit step that a retry repeats. The operation on the new host is canceled in {@link endMove}. */
const repeatable = async () => {}

/**
 * Moves a deleted site in the trash to another host. Nobody uses it, so it is copied once, and its PHP does not run.
 * Until `done`, it is where it was, and a user may restore it there. What waits for it, such as its removal, follows.
 */
export const relocateDeletedJob = durableWith<HostServices>()({
  name: 'site.relocate_deleted',
  input: RelocateOrder,
  on: 'host',
  changeableBy: 'account',
  // As for `site.relocate`: each occupies a second place, on the new host.
  atOnce: 2,
  steps: {
    place: { commit: givePlace, undo: repeatable },
    copy_files: copyingAhead<RelocateOrder>(),
    copy_database: { run: copyDatabase, undo: forgetBehind, weight: 2 },
    ask: { commit: askNewHost, undo: repeatable },
    receive: { run: awaitCopy, weight: 6 },
    done: { commit: exchange, pointOfNoReturn: true },
    leave: { run: leave },
  },
  failed: endMove,
})

/** Holds the site. @throws PermanentFailure when it is no longer in the trash of this host */
async function requireHere(tx: Tx, { services, input }: Context): Promise<Site> {
  const site = await holdDeletedSite(tx, input.siteId)
  if (!site) throw new PermanentFailure('The site is not in the trash')
  if (site.hostId !== services.hostId) throw new PermanentFailure('The site is on another host')
  return site
}

async function givePlace(tx: Tx, context: Context): Promise<Results['place']> {
  const { input, now } = context
  await requireHere(tx, context)
  if (!(await findRunningHost(tx, input.toHostId))) throw new PermanentFailure('The new host does not report')
  return { directoryId: (await insertCopy(tx, input.siteId, { hostId: input.toHostId, now: now() })).id }
}

async function copyDatabase({ services, input, operationId, signal, progressBytes }: Context): Promise<void> {
  const order = { siteId: input.siteId, name: behindOf(operationId), kind: 'db', isTried: false, signal } as const
  await takeBackup(services, { ...order, progress: progressBytes })
}

async function askNewHost(tx: Tx, context: Context<Results>): Promise<Results['ask']> {
  const { input, results, operationId, now } = context
  const { name: siteName } = await requireHere(tx, context)
  const { directoryId } = results.place
  const content = { files: aheadOf(operationId), database: behindOf(operationId), isComplete: true }
  const order = { directoryId, siteId: input.siteId, siteName, ...content }
  return { operationId: await enqueue(tx, receiveFiles, order, { hostId: input.toHostId, now: now() }) }
}

async function awaitCopy(context: Context<Results>): Promise<void> {
  const { operationId } = context.results.ask
  await awaitNewHost(context, operationId)
  const received = await resultOfStep(context.services.database.read, operationId, 'database')
  // A host of an earlier version leaves the database empty.
  if (!(received as { isComplete?: boolean } | undefined)?.isComplete)
    throw new PermanentFailure('The new host runs an earlier version of Stead')
}

/** Makes the copy the directory of the site. From here on nothing is rolled back. */
async function exchange(tx: Tx, context: Context<Results>): Promise<true> {
  const { services, input, results, operationId, now } = context
  const { siteId, toHostId: to } = input
  const { hostId: from } = services
  const { name: siteName } = await requireHere(tx, context)
  const left = await exchangeForCopy(tx, siteId, results.place.directoryId)
  if (left === undefined) throw new PermanentFailure('The copy of the site was removed')
  await bindToHost(tx, siteId, { from, to, except: operationId })
  await setHost(tx, siteId, to)
  await enqueue(tx, removeCopy, { directoryId: left, siteId, siteName }, { hostId: from, now: now() })
  return true
}

/** Failures are only logged: the site is on its new host. */
async function leave(context: Context): Promise<void> {
  const { input, log } = context
  for (const forget of [forgetFilesAhead, forgetBehind])
    await forget(context).catch((error) =>
      log.warn({ err: error, siteId: input.siteId }, 'could not remove a backup after a deleted site was moved'),
    )
}

/** Removes the copy. */
async function endMove(tx: Tx, { input, operationId, now }: FailureContext<RelocateOrder>): Promise<void> {
  const asked = (await resultOfStep(tx, operationId, 'ask')) as Results['ask'] | undefined
  if (asked) await requestCancel(tx, asked.operationId, now())
  const place = (await resultOfStep(tx, operationId, 'place')) as Results['place'] | undefined
  const copy = place && (await findCopy(tx, place.directoryId))
  if (!copy) return
  const order = { directoryId: copy.id, siteId: input.siteId, siteName: (await nameOfSite(tx, input.siteId)) ?? '' }
  const after = asked ? [asked.operationId] : []
  await enqueue(tx, removeCopy, order, { hostId: input.toHostId, after, now: now() })
}
