import type { Tx } from '../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
  type YieldingOperation,
} from '../../platform/operations/definition.ts'
import { hasResult, resultOfStep, wasBegun, wasUndone } from '../../platform/operations/steps-of.ts'
import { needsRights } from '../access/still-allowed.ts'
import { keeping } from '../backups/public.ts'
import { recordRelease, rememberThatItFailed } from '../cms-version/public.ts'
import { changeOfJob } from '../kit/change.ts'
import type { HostServices } from '../kit/host-services.ts'
import { lookFirst } from '../plugins/public.ts'
import { holdSite, openAfterFailure } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import { judgeParts, raiseUndone } from './alert-of-undo.ts'
import { type UpdateContext, type Updated, undoAll, updateAll } from './change-extensions.ts'
import { type AfterUpdate, type BeforeUpdate, lookAfter, lookBefore, verdict } from './look-at-site.ts'
import { type BeforeInBrowser, forgetBefore, picturesAfter, picturesBefore } from './look-in-browser.ts'
import { repeatTurnOf } from './policy/policy.store.ts'
import { noteKeptUpdate, noteUndoneUpdate } from './policy/undone.store.ts'
import { beginReport, endReport, findUpdate, setChanging, storeFindings, storePictures } from './safe-update.store.ts'
import { SafeUpdateOrder, type UpdatedItem } from './safe-update.ts'
import { type CoreResults, coreSteps, recordedRelease, updatedCore } from './update-core.ts'

type Context<Results = unknown> = StepContext<SafeUpdateOrder, HostServices, Results>

/** What the comparison found. */
interface Judged {
  /** Why the update must be undone. Null: nothing speaks against it. */
  readonly against: string | null
}

/** The beginning of the reason for an undo. */
const UNDONE = 'The update was undone'

/**
 * Updates plugins and themes, and compares pages of the site before and after. If one is worse, the operation fails,
 * and its rollback restores the earlier versions. So does every other end before `keep`.
 */
export const updateSafelyJob = durableWith<HostServices>()({
  name: 'plugin.update_safely',
  input: SafeUpdateOrder,
  on: 'host',
  changeableBy: { site: 'manage plugins' },
  permission: needsRights(({ siteId, core }: SafeUpdateOrder) => [
    { siteId, capability: 'manage plugins' },
    ...(core ? [{ siteId, capability: 'change the CMS version' } as const] : []),
  ]),
  attempts: 3,
  yields: repeatLater,
  steps: {
    note: {
      commit: (tx: Tx, context: Context) => beginReport(tx, context.operationId, context.input.siteId, context.now()),
      // So a retry begins the report again.
      undo: async () => {},
    },
    look: { run: (context: Context) => lookFirst(context) },
    keep_files: { ...keeping<SafeUpdateOrder>('fs'), weight: 2 },
    keep_database: { ...keeping<SafeUpdateOrder>('db'), weight: 2 },
    look_before: { run: (context: Context) => lookBefore(context), weight: 3 },
    pictures_before: { run: picturesBefore, undo: forgetBefore, weight: 4 },
    core: coreSteps.core,
    update: { run: (context: UpdateContext) => updateAll(context), undo: undoAll, weight: 5 },
    files: coreSteps.files,
    close: coreSteps.close,
    database: coreSteps.database,
    switch: coreSteps.switch,
    upgrade: coreSteps.upgrade,
    blogs: coreSteps.blogs,
    answer: coreSteps.answer,
    open: coreSteps.open,
    look_after: { run: compare, weight: 3 },
    pictures_after: { run: judge, weight: 4 },
    keep: { commit: keepOrRefuse, pointOfNoReturn: true },
    settle: coreSteps.cleanUp(forgetBefore),
  },
  failed: tellOfUndo,
})

/** An update by a policy yields before it changes the site. */
async function repeatLater(tx: Tx, open: YieldingOperation<SafeUpdateOrder>): Promise<boolean> {
  return !(await wasBegun(tx, open.operationId, 'update')) && repeatTurnOf(tx, open)
}

type AfterSteps = CoreResults & { update: Updated }

/** What was updated: plugins, themes and WordPress. */
const itemsOf = (context: Context<AfterSteps>): UpdatedItem[] => [
  ...context.results.update.items,
  ...updatedCore(context),
]

function compare(context: Context<AfterSteps & { look_before: BeforeUpdate }>): Promise<AfterUpdate> {
  return lookAfter(context, context.results.look_before, itemsOf(context))
}

async function judge(
  context: Context<AfterSteps & { pictures_before: BeforeInBrowser; look_after: AfterUpdate }>,
): Promise<Judged> {
  const { results, operationId, transaction } = context
  const { pages, pictures, missing } = await picturesAfter(context, results.pictures_before, results.look_after.pages)
  const found = { pages, logged: results.look_after.logged }
  await transaction(async (tx) => {
    await storeFindings(tx, operationId, { items: itemsOf(context), ...found, noPictures: missing })
    await storePictures(tx, operationId, pictures)
  })
  return { against: verdict(found) ?? null }
}

async function keepOrRefuse(tx: Tx, context: Context<AfterSteps & { pictures_after: Judged }>): Promise<true> {
  const { results, operationId, input, now } = context
  const { against } = results.pictures_after
  if (against !== null) throw new PermanentFailure(`${UNDONE}: ${against}`)
  await setChanging(tx, operationId, null)
  await endReport(tx, operationId, { state: 'kept', reason: null, now: now() })
  if (!(await holdSite(tx, input.siteId))) return true
  await noteKeptUpdate(tx, context, results.update.items)
  await judgeParts(tx, input, results.update.items, now())
  const release = recordedRelease(context)
  if (release) await recordRelease(tx, release)
  const what = itemsOf(context)
    .filter(({ outcome }) => outcome === 'updated')
    .map(({ message }) => message)
  await changeOfJob(tx, context).record({
    action: actions['safe_update.kept'],
    message: `Compared the pages of the site and kept the update. ${what.join('. ') || 'Nothing was updated'}`,
    event: { type: events.safe_update_kept, data: eventData(context, null) },
  })
  return true
}

const eventData = (
  { operationId, input }: Pick<FailureContext<SafeUpdateOrder>, 'operationId' | 'input'>,
  reason: string | null,
) => ({
  id: operationId,
  plugins: input.plugins.map(({ path }) => path),
  themes: input.themes.map(({ path }) => path),
  ...(input.core && { core: input.core.version }),
  ...(reason !== null && { reason }),
})

async function tellOfUndo(tx: Tx, context: FailureContext<SafeUpdateOrder>): Promise<void> {
  const { input, operationId, canceled, yielded, error, now } = context
  const { siteId } = input
  const { against } = ((await resultOfStep(tx, operationId, 'pictures_after')) ?? { against: null }) as Judged
  const isUndone = (await openAfterFailure(tx, context)).isRolledBack && (await wasUndone(tx, operationId, 'update'))
  const why = yielded ? 'It yielded to another operation of the site, and is repeated later' : 'It was canceled'
  const told = (error ?? (canceled ? why : 'unknown')).replace(/\.$/, '')
  const reason = isUndone
    ? `${told}${await lostContent(tx, context)}`
    : `${told}. Stead could not restore the earlier files: retry or undo the operation`
  const state = canceled ? 'canceled' : against !== null && isUndone ? 'undone' : 'failed'
  if (await findUpdate(tx, siteId, operationId)) await endReport(tx, operationId, { state, reason, now: now() })
  const isHere = await holdSite(tx, siteId)
  const isTouched = await wasBegun(tx, operationId, 'update')
  const { items } = ((await resultOfStep(tx, operationId, 'update')) ?? { items: [] }) as Updated
  // What failed before it touched the site says nothing about the versions.
  if (isHere && ((canceled && !yielded) || isTouched)) await noteUndoneUpdate(tx, context, items)
  // Or an automatic update would install the same release minutes later.
  if (isHere && input.core && (await hasResult(tx, operationId, 'core')))
    await rememberThatItFailed(tx, { ...context, input: { siteId, version: input.core.version } })
  if (canceled || !isHere) return
  if (isTouched) await raiseUndone(tx, input, reason, now())
  await changeOfJob(tx, context).record({
    action: actions['safe_update.undone'],
    message: `${reason}. ${isUndone ? 'The site has its earlier versions' : 'The update is still there'}.`,
    event: { type: events.safe_update_undone, data: eventData(context, reason) },
  })
}

/** An earlier WordPress does not run on the tables of a newer one, so the undo has restored the database, too. */
async function lostContent(tx: Tx, { operationId }: FailureContext<SafeUpdateOrder>): Promise<string> {
  const upgrade = (await resultOfStep(tx, operationId, 'upgrade')) as CoreResults['upgrade']
  if (!upgrade?.upgraded || !(await wasBegun(tx, operationId, 'open'))) return ''
  return '. The site has the database from before the update of WordPress, so later content is lost'
}
