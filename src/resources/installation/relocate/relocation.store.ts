import { sql } from 'kysely'
import { isHeard, usableStates } from '../../../hosting/host-state.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { nameInRepository } from '../../backups/public.ts'

/** Returns a host that reports and may run, or `undefined`. */
export async function findRunningHost(tx: Tx, hostId: number): Promise<{ id: number; name: string } | undefined> {
  return tx
    .selectFrom('hosts')
    .select(['hosts.id', 'name'])
    .where('hosts.id', '=', hostId)
    .where('state', 'in', usableStates)
    .where(sql<boolean>`${isHeard(tx)}`)
    .executeTakeFirst()
}

/** Operations that move a site to another host, and those that move one in the trash. */
const relocations = ['site.relocate', 'site.relocate_deleted']

/** Returns the operation that moves a site to another host and has not ended. */
export async function openRelocation(tx: Tx, siteId: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom('operations')
    .select('id')
    .where('site_id', '=', siteId)
    .where('type', 'in', relocations)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  return row?.id
}

/** Returns how many sites are on their way to each host, which do not count as its sites yet. */
export async function arrivingSites(tx: Tx): Promise<ReadonlyMap<number, number>> {
  const moves = await tx
    .selectFrom('operations')
    .innerJoin('sites', 'sites.id', 'operations.site_id')
    .select(['operations.input', 'sites.host_id'])
    .where('operations.type', 'in', relocations)
    .where('operations.finished_at', 'is', null)
    .execute()
  const arriving = new Map<number, number>()
  for (const { input, host_id: hostId } of moves) {
    const { toHostId } = JSON.parse(input) as { toHostId: number }
    if (toHostId !== hostId) arriving.set(toHostId, (arriving.get(toHostId) ?? 0) + 1)
  }
  return arriving
}

/** Returns the name of a backup in the repository of its site. */
export async function nameOfBackup(tx: Tx, id: number): Promise<string> {
  const row = await tx.selectFrom('backups').select(['id', 'name']).where('id', '=', id).executeTakeFirstOrThrow()
  return nameInRepository(row)
}
