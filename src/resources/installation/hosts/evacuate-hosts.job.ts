import Type from 'typebox'
import { forgetCopies } from '../../../hosting/site-directories/directory.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import {
  abandonOperation,
  bindToHost,
  openOnHost,
  requeueInterrupted,
} from '../../../platform/operations/host-operations.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import type { ControlServices } from '../../kit/control-services.ts'
import { findSite, openHosts } from '../../sites/public.ts'
import { lostHosts, sitesByVisits, VISIT_DAYS } from './host-changes.store.ts'
import { type LossContext, recoverElsewhere } from './recover-elsewhere.ts'

type Services = Pick<ControlServices, 'config' | 'database' | 'definitions'>
type Context = StepContext<unknown, Services>

/**
 * Assigns the sites of lost hosts to others, most visited first, and ends other operations queued there. Each site is
 * one transaction.
 */
export const evacuateHosts = durableWith<Services>()({
  name: 'hosts.evacuate',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: { sites: { run: evacuate } },
})

/** A host may have free places now, or a user may have deleted a site of a lost host. */
export const evacuateOften = schedule({
  name: 'hosts.evacuate',
  everyMs: 60_000,
  definition: evacuateHosts,
  input: () => ({}),
  options: () => ({ source: ROUTINE }),
})

/** Requests an evacuation, unless one is already queued. */
export async function requestEvacuation(tx: Tx): Promise<void> {
  const open = await tx
    .selectFrom('operations')
    .select('id')
    .where('type', '=', evacuateHosts.name)
    .where('state', '=', 'queued')
    .executeTakeFirst()
  if (!open) await enqueue(tx, evacuateHosts, {}, { source: ROUTINE })
}

async function evacuate(context: Context): Promise<{ moved: number; staying: number }> {
  const { services, signal, transaction, log } = context
  const { read } = services.database
  const counts = { moved: 0, staying: 0 }
  for (const host of await lostHosts(read)) {
    const loss = { host, config: services.config, definitions: services.definitions, now: context.now() }
    for (const siteId of await sitesByVisits(read, host.id, dayOf(context.now()) - VISIT_DAYS)) {
      signal.throwIfAborted()
      // A site that cannot be moved does not stop the others, and is retried in a minute.
      const hasMoved = await transaction((tx) => recoverElsewhere(tx, siteId, loss)).catch((error) => {
        log.error({ err: error, siteId, host: host.name }, 'could not move a site off a lost host')
        return false
      })
      counts[hasMoved ? 'moved' : 'staying']++
    }
    await transaction((tx) => endOtherWork(tx, loss))
  }
  return counts
}

/** Ends other operations. The deletion of a site needs no files, so any host can run it. Others end with a reason. */
async function endOtherWork(tx: Tx, loss: LossContext): Promise<void> {
  const [other] = await openHosts(tx)
  await forgetCopies(tx, loss.host.id)
  for (const { id, siteId, isBegun } of await openOnHost(tx, loss.host.id)) {
    const site = siteId === null ? undefined : await findSite(tx, siteId)
    const isOfDeleted = siteId !== null && site === undefined
    // Such as the end of a move to another host.
    const isOfOther = site !== undefined && site.hostId !== loss.host.id
    if (isOfDeleted && other) {
      await bindToHost(tx, siteId, { from: loss.host.id, to: other.id })
      if (isBegun) await requeueInterrupted(tx, id)
    } else if (siteId === null || isOfOther) await abandonOperation(tx, id, `The host ${loss.host.name} is lost`, loss)
  }
}
