import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { nullable, oneOf } from '../../../platform/http/schemas.ts'
import { suspendedAmong } from '../../account/public.ts'
import type { ListedSite, Site } from '../site.ts'
import { type Closure, closuresOf } from '../switches/closing.store.ts'

/* Tells what visitors of a site get now, and why. The edge decides in the same order (`edge/rules/index.ts`). */

const statuses = [
  'live',
  'maintenance',
  'disabled',
  'suspended',
  'deploying',
  'cloning',
  'failed',
  'restoring',
  'syncing',
  'importing',
  'moving',
  'closed',
] as const
type Status = (typeof statuses)[number]

export const SiteStatus = Type.Object(
  {
    status: oneOf(statuses, {
      description:
        'The answer to visitors. `live`: the site. `maintenance`: a maintenance page (503). `disabled`: an unavailable page (480). `suspended`: the same, because the operator suspended the account. `deploying`, `cloning` and ' +
        '`failed` (Stead could not create the site): a setup page (503). `restoring`, `syncing`, `importing`, `moving` and `closed`: a maintenance page (503), and the ' +
        'dashboard is also closed.',
      examples: ['live'],
    }),
    reason: nullable(
      Type.String({ description: 'Reason for the status, and what to do. Null while `live`', examples: [null] }),
    ),
    operationId: nullable(
      Type.Integer({ description: 'Id of the operation that keeps the site closed', examples: [null] }),
    ),
    deployError: nullable(
      Type.String({ description: 'Why Stead could not create the site, and what to do', examples: [null] }),
    ),
    safeMode: Type.Boolean({ description: 'WordPress runs without the plugins and the theme of the site' }),
  },
  { title: 'SiteStatus' },
)

/** Query parameter of the endpoints that can add the status to what they return. */
export const includeStatus = {
  include: Type.Optional(
    oneOf(['status'], { description: 'Adds `status` to each site, as `GET /v1/sites/{id}/status` returns it' }),
  ),
}

/** Operations that close a site, by what they do to it. */
const closing: Record<string, readonly [Status, string]> = {
  'site.restore': ['restoring', 'restores a backup'],
  'site.sync': ['syncing', 'copies data from another site'],
  'site.import': ['importing', 'imports a site'],
  'site.move': ['moving', 'moves the site to another PHP runtime'],
}

/** Returns the status of each site, in order. Uses two queries, whatever the number of sites. */
export async function statusesOf(tx: Tx, sites: readonly Site[]): Promise<Type.Static<typeof SiteStatus>[]> {
  const closures = await closuresOf(
    tx,
    sites.map(({ id }) => id),
  )
  const suspended = await suspendedAmong(
    tx,
    sites.map(({ accountId }) => accountId),
  )
  return sites.map((site) =>
    statusOf(site, { closure: closures.get(site.id), isSuspended: suspended.has(site.accountId) }),
  )
}

/** Presents sites in order, each with its status if the client asks for it. */
export async function presentAll<Shown extends object>(
  tx: Tx,
  sites: readonly ListedSite[],
  { include, present }: { include: 'status' | undefined; present: (site: ListedSite) => Shown },
): Promise<(Shown & { status?: Type.Static<typeof SiteStatus> })[]> {
  const all = sites.map(present)
  if (!include) return all
  const statuses = await statusesOf(tx, sites)
  return all.map((shown, at) => ({ ...shown, status: statuses[at] as Type.Static<typeof SiteStatus> }))
}

interface Circumstances {
  readonly closure: Closure | undefined
  readonly isSuspended: boolean
}

function statusOf(site: Site, circumstances: Circumstances): Type.Static<typeof SiteStatus> {
  const { deployError, isInSafeMode: safeMode } = site
  const { closure } = circumstances
  const [status, reason] = seen(site, circumstances)
  return {
    status,
    reason,
    operationId: isClosed(status) && closure ? closure.operationId : null,
    deployError,
    safeMode,
  }
}

const isClosed = (status: Status): boolean => ['restoring', 'syncing', 'importing', 'moving', 'closed'].includes(status)

function seen(
  { state, deployError, isInMaintenance }: Site,
  { closure, isSuspended }: Circumstances,
): [status: Status, reason: string | null] {
  if (isSuspended) return ['suspended', 'The operator suspended the account of this site. Contact the operator.']
  if (state === 'disabled') return ['disabled', 'The site is disabled. Enable it with PUT /v1/sites/{id}/enable.']
  if (state !== 'live' && deployError !== null) return ['failed', deployError]
  if (state === 'deploying') return ['deploying', 'Stead is creating the site.']
  if (state === 'cloning') return ['cloning', 'Stead is copying the site from its source.']
  if (closure) {
    const [status, work] = closing[closure.type] ?? (['closed', `(${closure.type}) works on the site`] as const)
    return [status, `Operation ${closure.operationId} ${work}. The site opens when it ends.`]
  }
  return isInMaintenance
    ? ['maintenance', 'Maintenance mode is on. Turn it off with PUT /v1/sites/{id}/maintenance-mode.']
    : ['live', null]
}
