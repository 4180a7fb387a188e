import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { durableWith, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import {
  abandonOperation,
  bindToHost,
  openOnHost,
  putBackOperation,
} from '../../../platform/operations/host-operations.ts'
import { schedule } from '../../../platform/operations/schedules.ts'
import type { ControlServices } from '../../kit/control-services.ts'
import { findSite, openHosts } from '../../sites/site.ts'
import { lostHosts, sitesByVisits } from './host.store.ts'
import { type LossContext, recoverElsewhere } from './recover-elsewhere.ts'

type Services = Pick<ControlServices, 'config' | 'database' | 'definitions'>
type Context = StepContext<unknown, Services>

/** Visits of a week decide whose turn it is first. */
const VISIT_DAYS = 7

/** Gives the sites of lost hosts to others, the most visited first, and ends what else was queued there. Each site is one transaction. */
export const evacuateHosts = durableWith<Services>()({
  name: 'hosts.evacuate',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: { sites: { run: evacuate } },
})

/** Room may have appeared, or someone has deleted a site of a lost host. */
export const evacuateOften = schedule({
  name: 'hosts.evacuate',
  everyMs: 60_000,
  definition: evacuateHosts,
  input: () => ({}),
  options: () => ({ source: ROUTINE }),
})

/** Asks for it, unless it is queued already. */
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
      // one site that cannot be moved keeps no other from it; its turn comes again in a minute
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

/** The deletion of a site needs no files, and any host can run it. Other work ends with a reason. */
async function endOtherWork(tx: Tx, loss: LossContext): Promise<void> {
  const [other] = await openHosts(tx)
  for (const { id, siteId, isBegun } of await openOnHost(tx, loss.host.id)) {
    const isOfDeleted = siteId !== null && (await findSite(tx, siteId)) === undefined
    if (isOfDeleted && other) {
      await bindToHost(tx, siteId, { from: loss.host.id, to: other.id })
      if (isBegun) await putBackOperation(tx, id)
    } else if (siteId === null) await abandonOperation(tx, id, `The host ${loss.host.name} is lost`, loss)
  }
}
