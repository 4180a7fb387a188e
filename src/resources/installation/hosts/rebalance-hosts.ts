import Type from 'typebox'
import { lockForUpdate } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { haveStorageInCommon } from '../../kit/shared-storage.ts'
import { actions } from '../actions.ts'
import { problems } from '../problems.ts'
import { loadsOf, type PlannedMove, planRebalance } from './plan-rebalance.ts'
import { openRebalance, weighHosts } from './rebalance.store.ts'
import { rebalanceHostsJob } from './rebalance-hosts.job.ts'

/** Moves of a request that names no limit. */
const MOST = 20

const NewRebalance = Type.Object(
  {
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Whether to only list the moves. Default: false', examples: [false] }),
    ),
    most: Type.Optional(
      Type.Integer({ description: `Moves at most. Default: ${MOST}`, minimum: 1, maximum: 100, examples: [MOST] }),
    ),
    at_once: Type.Optional(
      Type.Integer({ description: 'Sites that move at the same time. Default: 2', minimum: 1, maximum: 8 }),
    ),
  },
  { title: 'NewRebalance' },
)

const Load = Type.Integer({
  description:
    'Share of the disk use of all sites and of their page views of the last week, compared with the places of the host. 100 is a fair share',
  examples: [180],
})

const Rebalance = Type.Object(
  {
    moves: Type.Array(
      Type.Object(
        {
          site_id: Type.Integer(),
          site: Type.String({ examples: ['my-shop'] }),
          from: Type.String({ description: 'Name of its host', examples: ['host-1'] }),
          to: Type.String({ description: 'Name of the new host', examples: ['host-2'] }),
          disk_bytes: Type.Integer({ description: 'Size of files and database', examples: [104857600] }),
          visits: Type.Integer({ description: 'Page views of the last week', examples: [420] }),
          reason: Type.String({ examples: ['host-1 has 180 % of its fair share, and host-2 has 20 %.'] }),
        },
        { title: 'PlannedMove' },
      ),
    ),
    hosts: Type.Array(
      Type.Object({ name: Type.String({ examples: ['host-1'] }), load: Load, load_after: Load }, { title: 'HostLoad' }),
      { description: 'Hosts that take sites, before and after the moves' },
    ),
  },
  { title: 'Rebalance' },
)

export const rebalanceHosts = endpoint({
  id: 'rebalanceHosts',
  method: 'POST',
  path: '/v1/installation/hosts/rebalance',
  summary: 'Move sites from full hosts to emptier ones',
  description:
    'An addition of Stead. Compares the disk use and the page views of all hosts that take sites. If two differ by more than a tenth of their fair share, it moves sites from the fuller one to the emptier one. Sites that moved in the last week stay. One operation, named in `Operation-Id`, runs all moves. To stop early, cancel it: moves that have begun finish. With `dry_run`, or when no site should move, nothing starts.',
  access: { account: 'operator' },
  body: NewRebalance,
  response: Rebalance,
  starts: true,
  problems: [problems.storage_not_shared, problems.rebalance_open],

  async handle(context, { body }) {
    const { tx, config, now } = context
    if (!haveStorageInCommon(config)) throw new Problem(problems.storage_not_shared, {})
    const { hosts, sites } = await weighHosts(tx, now)
    const [first] = hosts
    // Of two requests, one sees the operation of the other.
    if (first && tx.isTransaction) await lockForUpdate(tx, 'hosts', first.id)
    const operation = await openRebalance(tx)
    if (operation !== undefined) throw new Problem(problems.rebalance_open, { operation })
    const moves = planRebalance(hosts, sites, body.most ?? MOST)
    if (!body.dry_run && moves.length > 0) {
      await context.start(rebalanceHostsJob, {
        moves: moves.map(({ site, from, to }) => ({ siteId: site.id, fromHostId: from.id, to: to.name })),
        ...(body.at_once !== undefined && { atOnce: body.at_once }),
      })
      await context.record({
        action: actions['host.rebalance_requested'],
        message: `Requested to move sites to emptier hosts: ${moves.length}`,
      })
    }
    const after = sites.map((site) => {
      const move = moves.find((each) => each.site === site)
      return move ? { ...site, hostId: move.to.id } : site
    })
    const [loads, later] = [loadsOf(hosts, sites), loadsOf(hosts, after)]
    return {
      moves: moves.map(presentMove),
      hosts: hosts.map(({ id, name }) => ({ name, load: percent(loads.get(id)), load_after: percent(later.get(id)) })),
    }
  },
})

const percent = (load = 0) => Math.round(load * 100)

const presentMove = ({ site, from, to, loads }: PlannedMove) => ({
  ...{ site_id: site.id, site: site.name, from: from.name, to: to.name },
  ...{ disk_bytes: site.diskBytes, visits: site.visits },
  reason: `${from.name} has ${percent(loads.from)} % of its fair share, and ${to.name} has ${percent(loads.to)} %.`,
})
