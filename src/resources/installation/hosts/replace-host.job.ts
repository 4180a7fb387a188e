import { setTimeout as pause } from 'node:timers/promises'
import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { revokeLogin } from '../../../platform/db/logins/logins.store.ts'
import {
  type Definitions,
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { openOnHost } from '../../../platform/operations/host-operations.ts'
import { isPaused } from '../../../platform/operations/pause.ts'
import { changeOfJob } from '../../kit/change.ts'
import { actions } from '../actions.ts'
import { reasonToKeep, removeEmptied } from './change-host.ts'
import { describeTrash, moveOff } from './drain-host.job.ts'
import { copiesOn, findHostNamed, hurryCopyRemovals } from './host-changes.store.ts'
import type { MovedMany, MovingServices } from './move-each.ts'

const ReplaceOrder = Type.Object({
  /** Name of the host that goes. */
  host: Type.String(),
  /** Name of the host that gets its sites. */
  to: Type.String(),
  /** Sites that move at the same time. */
  atOnce: Type.Optional(Type.Integer()),
  /** Times of a day between which moves begin: see `DrainTimes`. */
  window: Type.Optional(Type.String()),
  deadline: Type.Optional(Type.String()),
})
type ReplaceOrder = Type.Static<typeof ReplaceOrder>

interface ReplacingServices extends MovingServices {
  readonly definitions: Definitions
}
type Context<Results = unknown> = StepContext<ReplaceOrder, ReplacingServices, Results>

/** How often it reads what is left on the host. */
const LOOK_EVERY_MS = 250

/**
 * Moves all sites of a cordoned host to another one, and removes the host. If a site, a copy or a deleted site is left,
 * it ends with the reason, and the host stays cordoned. A host that still runs learns that it is removed, and ends.
 */
export const replaceHostJob = durableWith<ReplacingServices>()({
  name: 'host.replace',
  input: ReplaceOrder,
  on: 'control',
  changeableBy: 'account',
  follows: true,
  pausable: true,
  steps: {
    moves: { run: moveSites, weight: 10 },
    copies: { run: removeCopies },
    host: { commit: remove, pointOfNoReturn: true },
    login: { run: revokeWhenSilent },
  },
  failed: recordFailure,
})

/** @throws PermanentFailure when a site stays */
async function moveSites(context: Context): Promise<{ moved: number }> {
  const { moved, warning } = await moveOff(context)
  const trash = await describeTrash(context.services.database.read, context.input.host)
  const reasons = [warning, trash].filter(Boolean)
  if (reasons.length > 0) throw new PermanentFailure(`The host is kept. ${reasons.join('. ')}`)
  return { moved }
}

/** Removes the copies that moves have left, and waits until the host has nothing to do. */
async function removeCopies({ services, input, operationId, signal, transaction }: Context): Promise<void> {
  const { read } = services.database
  for (;;) {
    while (await isPaused(read, operationId)) await pause(LOOK_EVERY_MS, undefined, { signal })
    const host = await findHostNamed(read, input.host)
    if (host?.state !== 'cordoned') throw new PermanentFailure(`The host is kept: it is ${host?.state ?? 'gone'}`)
    const hurried = await transaction((tx) => hurryCopyRemovals(tx, host.id))
    const copies = await copiesOn(read, host.id)
    const open = await openOnHost(read, host.id)
    if (copies === 0 && open.length === 0) return
    const left =
      copies > 0 ? `copies of sites are left on it: ${copies}` : `its operations have not ended: ${open.length}`
    if (!host.isHeard) throw new PermanentFailure(`The host is kept. It does not report, and ${left}`)
    if (open.length === 0 && hurried === 0) throw new PermanentFailure(`The host is kept, because ${left}`)
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}

async function remove(tx: Tx, context: Context<{ moves: Pick<MovedMany, 'moved'> }>): Promise<true> {
  const { services, input, results, now } = context
  const { host, to } = input
  const kept = await reasonToKeep(tx, host)
  if (kept !== undefined) throw new PermanentFailure(`The host is kept: ${kept}`)
  await removeEmptied(tx, host, { now: now(), definitions: services.definitions })
  await changeOfJob(tx, context).record({
    action: actions['host.replaced'],
    message: `Replaced the host ${host} with ${to}, and removed it. Sites moved: ${results.moves.moved}`,
  })
  return true
}

/** Waits until the process has ended, which needs its login to learn why, and takes the login away. */
async function revokeWhenSilent({ services, input: { host: name }, signal, transaction }: Context): Promise<void> {
  const { dialect, read } = services.database
  // Its reports are refused, so it is silent ten seconds later.
  while (dialect === 'postgres' && (await findHostNamed(read, name))?.isHeard)
    await pause(LOOK_EVERY_MS, undefined, { signal })
  await transaction((tx) => revokeLogin(tx, { role: 'host', name }))
}

async function recordFailure(tx: Tx, context: FailureContext<ReplaceOrder>): Promise<void> {
  const { canceled, error, input } = context
  if (canceled) return
  const message = `Replacing the host ${input.host} with ${input.to} failed: ${error}`
  await changeOfJob(tx, context).record({ action: actions['host.replace_failed'], message })
}
