import { announce, beforeCommit, type Tx } from '../../platform/db/database.ts'
import { precompiled, precompiledChange } from '../../platform/db/precompiled.ts'

/*
 * What edges have to read again, numbered in the order of commits. No clock is involved, so that setting one back loses
 * nothing. The number is taken at the very end of a transaction, so that others wait for it only as long as a commit takes.
 */

/** Edges that were away for more changes than this look everything up again. */
const KEPT_CHANGES = 10_000

/** Makes edges and hosts read these host names again, whether they still have a route or not. */
export async function recordNames(tx: Tx, hostNames: readonly string[]): Promise<void> {
  await beforeCommit(tx, writeChanges, hostNames)
  await announce(tx, 'routes')
}

/** The same for all names of a site. */
export async function recordSite(tx: Tx, siteId: number): Promise<void> {
  const rows = await tx.selectFrom('routes').select('host_name').where('site_id', '=', siteId).execute()
  await recordNames(
    tx,
    rows.map((row) => row.host_name),
  )
}

/** Records that a host has another address: one change, however many sites it serves. */
export async function recordHost(tx: Tx, hostId: number): Promise<void> {
  await beforeCommit(tx, writeChanges, [hostId])
  await announce(tx, 'routes')
}

/** @param changed names of sites, IDs of hosts */
async function writeChanges(tx: Tx, changed: readonly (string | number)[]): Promise<void> {
  if (changed.length === 0) return
  const [clock] = await advance(tx, { count: changed.length })
  const newest = (clock as { seq: number }).seq
  for (const [at, what] of changed.entries())
    await insert(tx, {
      seq: newest - changed.length + 1 + at,
      hostName: typeof what === 'string' ? what : null,
      hostId: typeof what === 'number' ? what : null,
    })
  await prune(tx, { upTo: newest - KEPT_CHANGES })
}

const advance = precompiled((tx, { count }: { count: number }) =>
  tx
    .updateTable('route_clock')
    .set((column) => ({ seq: column('seq', '+', count) }))
    .where('id', '=', 1)
    .returning('seq'),
)

const insert = precompiledChange(
  (tx, { seq, hostName, hostId }: { seq: number; hostName: string | null; hostId: number | null }) =>
    tx.insertInto('route_changes').values({ seq, host_name: hostName, host_id: hostId }),
)

const prune = precompiledChange((tx, { upTo }: { upTo: number }) =>
  tx.deleteFrom('route_changes').where('seq', '<=', upTo),
)
