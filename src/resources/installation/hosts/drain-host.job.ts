import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { timestamp } from '../../../platform/http/schemas.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import type { StepContext } from '../../../platform/operations/definition.ts'
import { actions } from '../actions.ts'
import { turnOfDrain } from './drain-times.ts'
import { deletedSitesOn, findHostNamed, sitesByVisits, trashOfHosts, VISIT_DAYS } from './host-changes.store.ts'
import { MOVES_AT_ONCE, type MovedMany, type MovingServices, moveEach, type WantedMove } from './move-each.ts'
import { movingJob } from './moving-job.ts'

const DrainOrder = Type.Object({
  /** Name of the host. */
  host: Type.String(),
  /** Name of the only host that gets its sites. Default: all that take sites. */
  to: Type.Optional(Type.String()),
  /** Sites that move at the same time. */
  atOnce: Type.Optional(Type.Integer()),
  /** Times of a day between which moves begin: see `DrainTimes`. */
  window: Type.Optional(Type.String()),
  deadline: Type.Optional(Type.String()),
})
type DrainOrder = Type.Static<typeof DrainOrder>

type Context = StepContext<DrainOrder, MovingServices>

/**
 * Moves the sites of a cordoned host to others, least visited first. A site that cannot move stays, and the
 * drain continues with the others. It ends early when the host gets new sites again. A cancellation lets moves finish that have begun.
 */
export const drainHostJob = movingJob({
  name: 'host.drain',
  input: DrainOrder,
  sites: moveSites,
  done: { action: actions['host.drained'], text: ({ host }) => `Sites moved off the host ${host}` },
  failed: { action: actions['host.drain_failed'], text: ({ host }) => `Moving the sites off the host ${host}` },
})

async function moveSites(context: Context): Promise<MovedMany> {
  const moved = await moveOff(context)
  const trash = await describeTrash(context.services.database.read, context.input.host)
  const warning = [moved.warning, trash].filter(Boolean).join('. ')
  return { ...moved, ...(warning && { warning }) }
}

/** Moves all sites off a cordoned host that can move, and then those in its trash. */
export async function moveOff(context: Context): Promise<MovedMany> {
  const { services, input, now } = context
  const { read } = services.database
  async function wanted(): Promise<WantedMove[]> {
    const host = await findHostNamed(read, input.host)
    if (host?.state !== 'cordoned') return []
    const sites = await sitesByVisits(read, host.id, dayOf(now()) - VISIT_DAYS)
    const deleted = await deletedSitesOn(read, host.id)
    return [
      ...sites.reverse().map((siteId) => ({ siteId, to: input.to })),
      ...deleted.map((siteId) => ({ siteId, to: input.to, isDeleted: true as const })),
    ]
  }
  const turn = (time: number) => turnOfDrain(input, time)
  return moveEach(context, { wanted, atOnce: input.atOnce ?? MOVES_AT_ONCE, turn })
}

/** Describes the deleted sites that keep a host from being removed. */
export async function describeTrash(tx: Tx, name: string): Promise<string | undefined> {
  const host = await findHostNamed(tx, name)
  const trash = host && (await trashOfHosts(tx)).get(host.id)
  if (!trash) return undefined
  const until = trash.until === null ? '' : `, until ${timestamp(trash.until)}`
  return `Deleted sites in the trash that stay on the host${until}: ${trash.sites}`
}
