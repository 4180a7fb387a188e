import { getFrontPage } from '../../../hosting/php/front-page.ts'
import { PhpUnavailable } from '../../../hosting/php/runtime.ts'
import { type Compared, marksOf, type PageMarks } from '../../../hosting/php/same-page.ts'
import { exchangeForCopy, findCopy, insertCopy, nameOfSite } from '../../../hosting/site-directories/directory.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { DAY_MS } from '../../../platform/durations.ts'
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
import { aheadOf, type CreatedUndoPoint, copyingAhead, forgetFilesAhead, keepUndoPoint } from '../../backups/public.ts'
import { aboutSite, changeOfJob } from '../../kit/change.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { contentReplacement, holdSite, openSite, type Site, setHost } from '../../sites/public.ts'
import { actions, events } from '../actions.ts'
import {
  type DatabaseAhead,
  type DatabaseBehind,
  forgetBehind,
  forgetSums,
  keepAhead,
  keepBehind,
} from './moving-database.ts'
import { receiveFiles, receiveSite } from './receive-site.job.ts'
import { findRunningHost, nameOfBackup } from './relocation.store.ts'
import { awaitNewHost, RelocateOrder, settleAll, sharing } from './relocation.ts'
import { removeCopy } from './remove-copy.job.ts'

/** The old host keeps its directory this long. */
const LEFT_KEPT_MS = DAY_MS

interface Asked {
  readonly operationId: number
}
type Results = {
  place: { directoryId: number }
  ask_files: Asked
  page: PageMarks | null
  copy_files: { bytes: number } | null
  copy_database: DatabaseAhead | null
  keep_content: { files: CreatedUndoPoint; database: DatabaseBehind } | null
  ask_content: Asked
}
type Context<Known = Results> = StepContext<RelocateOrder, HostServices, Known>

const replacement = contentReplacement<RelocateOrder, Results>()

/** A commit step that a retry repeats. The operation on the new host is canceled in {@link endMove}. */
const repeatable = async () => {}

/**
 * Moves a site to another host. It runs on the host that has the site. Operations on the new host fill a copy from the
 * backup storage: first while the site is open, then what has changed while it is closed. Until `done`, the site is
 * where it was, and a failure opens it there and removes the copy. `done` is one transaction. The old host keeps its
 * directory for a day.
 */
export const relocateSiteJob = durableWith<HostServices>()({
  name: 'site.relocate',
  input: RelocateOrder,
  on: 'host',
  changeableBy: 'account',
  // Each occupies a second place, on the new host. Two hosts that exchange sites must not wait for each other.
  atOnce: 2,
  steps: {
    check: replacement.open<{ host: string }>({ run: check }),
    place: { commit: givePlace, undo: repeatable },
    copy_files: replacement.open(copyingAhead<RelocateOrder>()),
    copy_database: replacement.open<DatabaseAhead>({ run: keepAhead, undo: forgetSums, weight: 2 }),
    ask_files: { commit: askForFiles, undo: repeatable },
    receive_files: replacement.open({
      run: (context) => awaitNewHost(context, context.results.ask_files.operationId),
      weight: 6,
    }),
    page: replacement.open<PageMarks | null>({ run: lookAtPage }),
    close: replacement.close,
    keep_content: replacement.closed<NonNullable<Results['keep_content']>>({ run: keepContent, undo: forgetBehind }),
    ask_content: { commit: askForContent, undo: repeatable },
    receive_content: replacement.closed({
      run: (context) => awaitNewHost(context, context.results.ask_content.operationId),
      weight: 2,
    }),
    done: { commit: exchange, pointOfNoReturn: true },
    leave: { run: leave },
  },
  failed: endMove,
})

async function check({ services, input }: Context<unknown>): Promise<{ host: string }> {
  const to = await findRunningHost(services.database.read, input.toHostId)
  if (!to) throw new PermanentFailure('The new host does not report')
  if (to.id === services.hostId) throw new PermanentFailure(`The site is on ${to.name} already`)
  return { host: to.name }
}

/** Holds the site. @throws PermanentFailure when it was deleted, or is on another host by now */
async function requireHere(tx: Tx, { services, input }: Pick<Context, 'services' | 'input'>): Promise<Site> {
  const site = await holdSite(tx, input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  if (site.hostId !== services.hostId) throw new PermanentFailure('The site is on another host')
  return site
}

async function givePlace(tx: Tx, context: Context<unknown>): Promise<{ directoryId: number }> {
  const { input, now } = context
  await requireHere(tx, context)
  const { id } = await insertCopy(tx, input.siteId, { hostId: input.toHostId, now: now() })
  return { directoryId: id }
}

async function askForFiles(tx: Tx, context: Context): Promise<Asked> {
  const { input, results, operationId, now } = context
  const { siteId, toHostId: hostId } = input
  const { name: siteName } = await requireHere(tx, context)
  const { id, totals = null } = results.copy_database ?? {}
  const order = {
    ...{ directoryId: results.place.directoryId, siteId, siteName, files: aheadOf(operationId) },
    ...(id !== undefined && totals && { database: await nameOfBackup(tx, id), totals }),
  }
  return { operationId: await enqueue(tx, receiveFiles, order, { hostId, now: now() }) }
}

/** Backs up what has changed since, the files and the database at the same time. */
async function keepContent(context: Context): Promise<NonNullable<Results['keep_content']>> {
  const { copy_files: copied } = context.results
  // Files are not counted again while the site is closed.
  const options = copied ? { estimatedBytes: copied.bytes } : {}
  const of = sharing(context, ['files', 'database'])
  const [files, database] = await settleAll([
    keepUndoPoint(of.files, context.input.siteId, 'fs', options),
    keepBehind(of.database),
  ])
  return { files, database }
}

/** Fetches the homepage that visitors get, before the site is closed. */
async function lookAtPage({ services, input, signal }: Context): Promise<PageMarks | null> {
  const site = await services.hostedSite(input.siteId)
  if (!site) throw new PermanentFailure('The site was deleted')
  const look = () => getFrontPage(services.pool, site, { signal })
  try {
    return marksOf(await look(), await look())
  } catch (error) {
    if (error instanceof PhpUnavailable) return null
    throw error
  }
}

async function askForContent(tx: Tx, context: Context): Promise<Asked> {
  const { services, input, results, now } = context
  const { siteId, toHostId: hostId } = input
  const { name: siteName } = await requireHere(tx, context)
  const { files, database: behind } = results.keep_content as NonNullable<Results['keep_content']>
  const order = {
    ...{ directoryId: results.place.directoryId, siteId, siteName },
    files: await nameOfBackup(tx, files.id),
    ...('change' in behind
      ? { database: behind.name, change: behind.change }
      : { database: await nameOfBackup(tx, behind.id) }),
    fromHostId: services.hostId,
    page: results.page,
  }
  return { operationId: await enqueue(tx, receiveSite, order, { hostId, now: now() }) }
}

/** Makes the copy the site. From here on nothing is rolled back. */
async function exchange(tx: Tx, context: Context<Results & { check: { host: string } }>): Promise<true> {
  const { services, input, results, operationId, now } = context
  const { siteId, toHostId: to } = input
  const { hostId: from } = services
  const site = await requireHere(tx, context)
  const left = await exchangeForCopy(tx, siteId, results.place.directoryId)
  if (left === undefined) throw new PermanentFailure('The copy of the site was removed')
  await bindToHost(tx, siteId, { from, to, except: operationId })
  await setHost(tx, siteId, to)
  // Edges and hosts reload it, with its new host.
  await openSite(tx, siteId, operationId, now())
  const copied = { directoryId: left, siteId, siteName: site.name }
  await enqueue(tx, removeCopy, copied, { hostId: from, afterMs: LEFT_KEPT_MS, now: now() })
  const asked = (await resultOfStep(tx, results.ask_content.operationId, 'answer')) as Compared | null
  await changeOfJob(tx, context).record({
    action: actions['site.relocated'],
    message: `Moved the site to the host ${results.check.host}.${describePage(asked)}`,
    event: { type: events.site_relocated, data: {} },
    about: aboutSite(site),
  })
  return true
}

/** Describes differences of the homepage, which need not be an error. */
function describePage(compared: Compared | null): string {
  if (!compared) return ''
  const { lines, changed } = compared
  return changed === 0
    ? ' Its homepage is unchanged.'
    : ` On its homepage, ${changed} of ${lines} lines differ. Check the homepage.`
}

/** Failures are only logged: the site is on its new host. */
async function leave(context: Context): Promise<void> {
  const { services, input, log } = context
  services.pool.release(input.siteId)
  for (const forget of [forgetFilesAhead, forgetBehind])
    await forget(context).catch((error) =>
      log.warn(
        { err: error, siteId: input.siteId },
        'could not remove a backup after a site was moved to another host',
      ),
    )
}

/** Opens the site where it was, and removes the copy. */
async function endMove(tx: Tx, context: FailureContext<RelocateOrder>): Promise<void> {
  const { input, operationId, canceled, error, now } = context
  const { siteId, toHostId: hostId } = input
  await openSite(tx, siteId, operationId, now())
  const asked: number[] = []
  for (const step of ['ask_files', 'ask_content']) {
    const found = (await resultOfStep(tx, operationId, step)) as Asked | undefined
    if (!found) continue
    asked.push(found.operationId)
    await requestCancel(tx, found.operationId, now())
  }
  const site = await holdSite(tx, siteId)
  const place = (await resultOfStep(tx, operationId, 'place')) as Results['place'] | undefined
  const copy = place && (await findCopy(tx, place.directoryId))
  if (copy) {
    const order = { directoryId: copy.id, siteId, siteName: (await nameOfSite(tx, siteId)) ?? '' }
    await enqueue(tx, removeCopy, order, { hostId, after: asked, now: now() })
  }
  if (!site || canceled) return
  await changeOfJob(tx, context).record({
    action: actions['site.relocate_failed'],
    message: `The move to another host failed, and the site stays where it is: ${(error ?? 'unknown').replace(/\.$/, '')}.`,
    about: aboutSite(site),
  })
}
