import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { durableWith, type FailureContext, type StepContext } from '../../../platform/operations/definition.ts'
import { changeOfJob } from '../../kit/change.ts'
import { actions } from '../actions.ts'
import { MOVES_AT_ONCE, type MovedMany, type MovingServices, moveEach } from './move-each.ts'
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
export const rebalanceHostsJob = durableWith<MovingServices>()({
  name: 'hosts.rebalance',
  input: RebalanceOrder,
  on: 'control',
  changeableBy: 'account',
  steps: {
    sites: { run: moveSites },
    done: { commit: record },
  },
  failed: recordFailure,
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

async function record(tx: Tx, context: StepContext<RebalanceOrder, MovingServices, { sites: MovedMany }>) {
  const { moved, staying } = context.results.sites
  await changeOfJob(tx, context).record({
    action: actions['host.rebalanced'],
    message: `Sites moved to emptier hosts: ${moved}. Sites that stayed: ${staying}`,
  })
}

async function recordFailure(tx: Tx, context: FailureContext<RebalanceOrder>): Promise<void> {
  if (context.canceled) return
  await changeOfJob(tx, context).record({
    action: actions['host.rebalance_failed'],
    message: `Moving sites to emptier hosts failed: ${context.error}`,
  })
}
