import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { isPaused } from '../../../platform/operations/pause.ts'
import { someOf } from '../../../platform/some-of.ts'
import { changeOfJob } from '../../kit/change.ts'
import { actions } from '../actions.ts'
import { updateSafelyJob } from '../update-safely.job.ts'
import {
  beginBatch,
  busyHosts,
  countRunning,
  endBatch,
  failLostUpdates,
  sitesOfBatch,
  sitesOfLostUpdates,
  statesOfBatch,
  waitingSites,
} from './batch.store.ts'
import { BatchWish, UPDATES_AT_ONCE } from './batch.ts'
import { type BatchServices, beginOne, rememberedDirectory, skipTaken } from './begin-one.ts'

const Input = Type.Object({ ...BatchWish.properties, siteIds: Type.Array(Type.Integer()) })
type Input = Type.Static<typeof Input>
type Context = StepContext<Input, BatchServices>

/** How often it reads how far the updates are. */
const LOOK_EVERY_MS = 500
/** Sites that the reason of a failure names. */
const MOST_NAMED = 5

/**
 * Updates many sites safely, each with an operation of its own. It may run again: the database has the state of each
 * site. While it is paused, it begins no update, and does not end. A cancellation lets updates finish that have begun.
 * A retry begins again with the sites whose update was undone, failed, or was canceled.
 */
export const updateManySafelyJob = durableWith<BatchServices>()({
  name: 'plugin.update_many_safely',
  input: Input,
  on: 'control',
  changeableBy: 'account',
  follows: true,
  pausable: true,
  steps: {
    // The undo lets a retry run it again.
    note: { commit: note, undo: async () => {} },
    sites: { run: updateEach, weight: 20 },
    done: { commit: finish },
  },
  failed: tellOfFailure,
})

async function note(tx: Tx, { operationId: id, accountId, input, now }: Context): Promise<void> {
  const { siteIds, ...wish } = input
  await beginBatch(tx, { id, accountId: accountId as number, wish, siteIds, now: now() })
}

async function updateEach(given: Context): Promise<void> {
  const pluginDirectory = rememberedDirectory(given.services.pluginDirectory, given.now)
  const context: Context = { ...given, services: { ...given.services, pluginDirectory } }
  const { services, operationId, signal, transaction, progress } = context
  const { read } = services.database
  for (;;) {
    if ((await sitesOfLostUpdates(read, operationId)).length > 0)
      await transaction((tx) => failLostUpdates(tx, operationId))
    const waits = await isPaused(read, operationId)
    if (!waits) await beginSome(context)
    const states = await statesOfBatch(read, operationId)
    const left = (states.get('waiting') ?? 0) + (states.get('in_progress') ?? 0)
    if (left === 0 && !waits) return
    const all = [...states.values()].reduce((sum, count) => sum + count, 0)
    progress(1 - left / Math.max(1, all))
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}

/** Skips the sites that older batches update, and begins as many updates as there are places. */
async function beginSome(context: Context): Promise<void> {
  const { services, operationId, signal } = context
  const { read } = services.database
  await skipTaken(context)
  if ((await countRunning(read, updateSafelyJob.name)) >= UPDATES_AT_ONCE) return
  const busy = await busyHosts(read, updateSafelyJob.name)
  for (const { siteId, hostId } of await waitingSites(read, operationId)) {
    if (hostId !== null && busy.has(hostId)) continue
    signal.throwIfAborted()
    const outcome = await beginOne(context, siteId)
    if (outcome === 'full') return
    if (outcome !== 'skipped' && hostId !== null) busy.add(hostId)
  }
}

async function finish(tx: Tx, context: Context): Promise<void> {
  const { operationId, accountId, now } = context
  const sites = await sitesOfBatch(tx, accountId as number, operationId)
  const bad = sites.filter(({ state }) => state === 'undone' || state === 'failed')
  if (bad.length > 0) {
    const named = bad.map(({ siteId, name, reason }) => `${name ?? `site ${siteId}`} (${reason})`)
    throw new PermanentFailure(`Sites that have their earlier versions: ${someOf(named, MOST_NAMED)}`)
  }
  await endBatch(tx, operationId, 'completed', now())
  const kept = sites.filter(({ state }) => state === 'kept').length
  await changeOfJob(tx, context).record({
    action: actions['safe_updates.ended'],
    message: `Sites updated safely: ${kept}. Sites that were not updated: ${sites.length - kept}`,
  })
}

async function tellOfFailure(tx: Tx, context: FailureContext<Input>): Promise<void> {
  const { operationId, canceled, error, now } = context
  await endBatch(tx, operationId, canceled ? 'canceled' : 'failed', now())
  if (canceled) return
  await changeOfJob(tx, context).record({ action: actions['safe_updates.ended'], message: `${error}` })
}
