import Type from 'typebox'
import type { StepContext } from '../../../platform/operations/definition.ts'
import { actions } from '../actions.ts'
import { MOVES_AT_ONCE, type MovedMany, type MovingServices, moveEach } from './move-each.ts'
import { movingJob } from './moving-job.ts'
import { sitesOnHost } from './rebalance.store.ts'

const RebalanceOrder = Type.Object({
  moves: Type.Array(
    Type.Object({
      siteId: Type.Integer(),
      /** The host that it leaves. A site that is elsewhere by now stays there. */
      fromHostId: Type.Integer(),
      /** Name of its new host. */
      to: Type.String(),
    }),
  ),
  /** Sites that move at the same time. */
  atOnce: Type.Optional(Type.Integer()),
})
type RebalanceOrder = Type.Static<typeof RebalanceOrder>

type Context = StepContext<RebalanceOrder, MovingServices>

/**
 * Moves the sites of a plan. A site stays if its new host cannot take it by then. A cancellation lets moves finish that
 * have begun.
 */
export const rebalanceHostsJob = movingJob({
  name: 'hosts.rebalance',
  input: RebalanceOrder,
  sites: moveSites,
  done: { action: actions['host.rebalanced'], text: () => 'Sites moved to emptier hosts' },
  failed: { action: actions['host.rebalance_failed'], text: () => 'Moving sites to emptier hosts' },
})

async function moveSites(context: Context): Promise<MovedMany> {
  const { services, input } = context
  async function wanted() {
    const left: RebalanceOrder['moves'] = []
    for (const [hostId, moves] of Map.groupBy(input.moves, ({ fromHostId }) => fromHostId)) {
      const ids = moves.map(({ siteId }) => siteId)
      const here = await sitesOnHost(services.database.read, ids, hostId)
      left.push(...moves.filter(({ siteId }) => here.has(siteId)))
    }
    return left
  }
  return moveEach(context, { wanted, atOnce: input.atOnce ?? MOVES_AT_ONCE })
}
