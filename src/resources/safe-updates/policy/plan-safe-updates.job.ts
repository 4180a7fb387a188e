import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { openOperations } from '../../../platform/operations/open-operations.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import { findSite, holdSite, type Site } from '../../sites/public.ts'
import { actions } from '../actions.ts'
import { busyHosts, countRunning, holdPlaces } from '../batch/batch.store.ts'
import { UPDATES_AT_ONCE } from '../batch/batch.ts'
import { type BatchServices, rememberedDirectory } from '../batch/begin-one.ts'
import { beginReport, updateInProgress } from '../safe-update.store.ts'
import { updateSafelyJob } from '../update-safely.job.ts'
import { type Chosen, chooseByPolicy } from './choose-by-policy.ts'
import {
  deleteFarTurns,
  isOutOfUse,
  LATER_MS,
  nextDue,
  planTurns,
  policyFor,
  setTurn,
  sourceOf,
  turnOf,
  type UpdateTurn,
} from './policy.store.ts'
import { describePolicy, type UpdatePolicy } from './policy.ts'
import { nextSlot } from './slots.ts'

/** New sites per transaction, so that other writers do not wait long. */
const AT_ONCE = 100
/** Sites of one look. Most have nothing to update. The others wait for the next look. */
const MOST_LOOKED_AT = 1000

/**
 * Begins the safe updates that policies want now, as the owners of the sites. They share the places of safe updates of
 * many sites. A site whose turn has come without a place waits for the next look. Missed turns of a site count as one.
 */
export const planSafeUpdates = durableWith<BatchServices>()({
  name: 'safe_updates.plan',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    new_sites: { run: planNewSites },
    begin: { run: beginDue },
  },
})

export const planSafeUpdatesOften = schedule({
  name: 'safe_updates.plan',
  everyMs: MINUTE_MS,
  definition: planSafeUpdates,
  input: () => ({}),
})

type Context = Pick<StepContext<object, BatchServices>, 'services' | 'now' | 'signal' | 'transaction'>

async function planNewSites({ now, signal, transaction }: Context): Promise<void> {
  await transaction((tx) => deleteFarTurns(tx, now()))
  do signal.throwIfAborted()
  while ((await transaction((tx) => planTurns(tx, now(), { most: AT_ONCE }))) > 0)
}

async function beginDue(given: Context): Promise<void> {
  const { services, signal, now } = given
  const { read } = services.database
  const pluginDirectory = rememberedDirectory(services.pluginDirectory, now)
  const context = { ...given, services: { ...services, pluginDirectory } }
  for (let looked = 0; looked < MOST_LOOKED_AT; looked++) {
    signal.throwIfAborted()
    if ((await countRunning(read, updateSafelyJob.name)) >= UPDATES_AT_ONCE) return
    const siteId = await nextDue(read, updateSafelyJob.name, now())
    if (siteId === undefined) return
    await takeTurn(context, siteId)
  }
}

/** What becomes of a turn. */
type Outcome =
  | { readonly kind: 'update'; readonly site: Site; readonly policy: UpdatePolicy }
  /** The site is not updated in this turn. */
  | { readonly kind: 'skip' }
  /** It is busy. */
  | { readonly kind: 'later' }

/** Takes the turn of a site. It costs a question to the directory of WordPress only if the site can be updated. */
async function takeTurn(context: Context, siteId: number): Promise<void> {
  const { services, transaction, now } = context
  const { read } = services.database
  const site = await findSite(read, siteId)
  const before = await judgeTurn(read, siteId, site, now())
  const isAfterTrial = (await turnOf(read, siteId))?.isAfterTrial ?? false
  const chosen =
    before.kind === 'update' ? await chooseByPolicy(services, siteId, { ...before.policy, isAfterTrial }) : 'later'
  await transaction(async (tx) => {
    await holdPlaces(tx)
    const held = await holdSite(tx, siteId)
    const turn = await turnOf(tx, siteId)
    // Another look was faster, or the policy has changed.
    if (!turn || turn.dueAt > now()) return
    const outcome = await judgeTurn(tx, siteId, held, now())
    if (outcome.kind === 'later' || (outcome.kind === 'update' && chosen === 'later'))
      return setTurn(tx, siteId, { ...turn, dueAt: now() + LATER_MS })
    if (outcome.kind === 'update' && typeof chosen === 'object') {
      if ((await countRunning(tx, updateSafelyJob.name)) >= UPDATES_AT_ONCE) return
      if ((await busyHosts(tx, updateSafelyJob.name)).has(outcome.site.hostId as number)) return
      await begin(tx, { ...outcome, turn }, chosen, now())
      return endTurn(tx, siteId, held, { isAfterTrial: chosen.isTrial, now: now() })
    }
    await endTurn(tx, siteId, held, { isAfterTrial: false, now: now() })
  })
}

async function judgeTurn(tx: Tx, siteId: number, site: Site | undefined, now: number): Promise<Outcome> {
  const turn = await turnOf(tx, siteId)
  if (!turn || !site || site.hostId === null || site.state !== 'live' || site.isInMaintenance) return { kind: 'skip' }
  const policy = await policyFor(tx, siteId, site.accountId)
  if (!isTurnOf(policy, turn, now) || (await isOutOfUse(tx, siteId, now))) return { kind: 'skip' }
  if ((await updateInProgress(tx, updateSafelyJob.name, siteId)) !== undefined) return { kind: 'skip' }
  if ((await openOperations(tx, siteId)).length > 0) return { kind: 'later' }
  return { kind: 'update', site, policy }
}

/** Returns whether a turn is for a time of this policy: the site may have another owner, or the clock was set back. */
const isTurnOf = (policy: UpdatePolicy, { slotAt }: UpdateTurn, now: number): boolean =>
  slotAt <= now && nextSlot(policy, slotAt - 1) === slotAt

/** Gives the site its next turn, or none if it has no policy any longer. */
async function endTurn(
  tx: Tx,
  siteId: number,
  site: Site | undefined,
  { isAfterTrial, now }: { readonly isAfterTrial: boolean; readonly now: number },
): Promise<void> {
  const slot = site ? nextSlot(await policyFor(tx, siteId, site.accountId), now) : null
  await setTurn(tx, siteId, slot === null ? null : { slotAt: slot, dueAt: slot, isAfterTrial })
}

async function begin(
  tx: Tx,
  { site, policy, turn }: { readonly site: Site; readonly policy: UpdatePolicy; readonly turn: UpdateTurn },
  { found, isTrial }: Exclude<Chosen, string>,
  now: number,
): Promise<void> {
  const { id: siteId, accountId, hostId } = site
  const order = { siteId, ...found, paths: [] }
  const about = { siteId, accountId, hostId, askedById: accountId, source: sourceOf(turn), now }
  const id = await enqueue(tx, updateSafelyJob, order, about)
  await beginReport(tx, id, siteId, now, { isByPolicy: true })
  const names = [...found.plugins, ...found.themes].map(({ path }) => path.slice(0, 200)).join(', ')
  await changeBy(tx, { actor: 'systems', about: aboutSite(site), now }).record({
    action: actions['safe_update.by_policy'],
    message: `The update policy (${describePolicy(policy)}) started the safe update of ${names}${isTrial ? ' alone, because it was undone together with others' : ''}`,
  })
}
