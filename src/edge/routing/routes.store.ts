import type { Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import { isInProgress } from '../../platform/operations/is-in-progress.ts'
import { listedUnder } from '../../platform/wildcard-name.ts'
import { columnsReadBy, flagsOfRow } from '../../site-flags.ts'
import type { CertificateRow } from '../tables.ts'
import type { Route } from './route.ts'
import type { RouteChangesSince } from './routes.ts'

/** The operation that moves a site to another host, and leaves its content as it is. */
const MOVE = 'site.relocate'

/** Returns the route of a host name, or of the wildcard that covers it; `undefined` when no existing site has it. */
export async function loadRoute(tx: Tx, hostName: string): Promise<Route | undefined> {
  const row = await routeRow(tx, hostName)
  return (
    row && {
      hostName,
      listedAs: row.host_name,
      siteId: row.id,
      state: row.state,
      isSuspended: row.suspended_at !== null,
      deployFailed: row.deploy_error !== null,
      hostId: row.host_id,
      upstream: row.address,
      place: row.place ?? undefined,
      // Each name below a wildcard may be a site of a WordPress network.
      redirectsTo: row.is_domain === 1 && row.host_name === hostName ? primaryAddress(row) : null,
      ...flagsOfRow(row),
      isClosed: row.closed === 1,
      isMoving: row.moving === 1,
      isUnlisted: row.environment_type !== 'production',
      cacheEpoch: row.cache_epoch,
      cdnEpoch: row.cdn_epoch,
      defensiveUntilMs: row.defensive_until ?? 0,
      certifiedAt: row.issued_at ?? 0,
      certifiedUntil: row.expires_at ?? 0,
      forceTls: row.force_tls === 1,
      ...(row.certificate_of !== null && { challenge: challengeOf(row) }),
    }
  )
}

const routeRow = (tx: Tx, hostName: string) =>
  tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .innerJoin('hosts', 'hosts.id', 'sites.host_id')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .leftJoin('site_homes', 'site_homes.site_id', 'sites.id')
    .leftJoin('certificates', 'certificates.host_name', 'routes.host_name')
    .select([
      'routes.host_name',
      'sites.id',
      'sites.state',
      'sites.deploy_error',
      ...columnsReadBy('edge'),
      'sites.environment_type',
      isInProgress('sites.closed_by').as('closed'),
      isInProgress('sites.closed_by', MOVE).as('moving'),
      'sites.cache_epoch',
      'sites.cdn_epoch',
      'sites.defensive_until',
      'sites.primary_domain',
      'sites.written_address',
      'routes.is_domain',
      'hosts.id as host_id',
      'hosts.address',
      'site_homes.id as place',
      'accounts.suspended_at',
      'certificates.host_name as certificate_of',
      'certificates.issued_at',
      'certificates.expires_at',
      'certificates.force_tls',
      'certificates.challenge_token',
      'certificates.challenge_answer',
    ])
    .where('routes.host_name', 'in', listedUnder(hostName))
    .where('sites.deleted_at', 'is', null)
    // The name itself before the wildcard.
    .orderBy(({ eb, ref }) => eb(ref('routes.host_name'), '=', hostName), 'desc')
    .limit(1)
    .executeTakeFirst()

/**
 * Returns where the other domains of a site redirect to: its primary domain, once WordPress itself uses it. Before
 * that, each would redirect to the other forever.
 */
function primaryAddress(row: {
  host_name: string
  primary_domain: string | null
  written_address: string | null
}): string | null {
  const { host_name: own, primary_domain: primary, written_address: written } = row
  return primary !== null && primary !== own && written?.replace(/:\d+$/, '') === primary ? primary : null
}

const challengeOf = (row: Pick<CertificateRow, 'challenge_token' | 'challenge_answer'>): Route['challenge'] =>
  row.challenge_token && row.challenge_answer ? { token: row.challenge_token, answer: row.challenge_answer } : null

/** Returns the changes after a number, in order, or with undefined only the newest number. */
export async function routeChangesSince(tx: Tx, seq: number | undefined): Promise<RouteChangesSince> {
  const [clock] = await readClock(tx, {})
  const { seq: newest } = clock as { seq: number }
  if (seq === undefined || newest <= seq) return { newest, changes: [] }
  const rows = await readAfter(tx, { seq })
  const changes = rows.map((row) =>
    row.host_id === null
      ? { seq: row.seq, hostName: row.host_name as string }
      : { seq: row.seq, hostId: row.host_id, upstream: row.address ?? '' },
  )
  // Read after the clock, so more may have been committed in between.
  return { newest: Math.max(newest, rows.at(-1)?.seq ?? 0), changes }
}

const readClock = precompiled((tx) => tx.selectFrom('route_clock').select('seq').where('id', '=', 1))

const readAfter = precompiled((tx, { seq }: { seq: number }) =>
  tx
    .selectFrom('route_changes')
    .leftJoin('hosts', 'hosts.id', 'route_changes.host_id')
    .select(['route_changes.seq', 'host_name', 'host_id', 'hosts.address'])
    .where('route_changes.seq', '>', seq)
    .orderBy('route_changes.seq'),
)
