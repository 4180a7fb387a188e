import type { CoreOffer } from '../../hosting/core-library/core-library.ts'
import type { Tx } from '../../platform/db/database.ts'

export interface Release extends CoreOffer {
  /** Milliseconds UTC. */
  readonly seenAt: number
}

export async function knownReleases(tx: Tx): Promise<Release[]> {
  const rows = await tx.selectFrom('core_releases').selectAll().execute()
  return rows.map(({ version, kind, seen_at: seenAt, php_version: phpVersion, offered }) => ({
    ...{ version, kind, seenAt, phpVersion },
    isOffered: offered === 1,
  }))
}

/** Stores the releases that are offered now, and removes others. */
export async function replaceReleases(tx: Tx, offers: readonly CoreOffer[], now: number): Promise<void> {
  await tx.deleteFrom('core_releases').execute()
  const rows = offers.map(({ version, kind, phpVersion, isOffered }) => ({
    ...{ version, kind, seen_at: now, php_version: phpVersion },
    offered: isOffered ? (1 as const) : (0 as const),
  }))
  if (rows.length > 0) await tx.insertInto('core_releases').values(rows).execute()
}

/** Returns a queued check of a host. */
export async function queuedLook(tx: Tx, hostId: number | null): Promise<number | undefined> {
  const row = await tx
    .selectFrom('operations')
    .select('id')
    .where('type', '=', 'cms.look_for_releases')
    .where('host_id', '=', hostId)
    .where('state', '=', 'queued')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/**
 * Returns the host that reported last, or `undefined` if there is none or it has not done earlier work of this kind.
 */
export async function hostToAsk(tx: Tx, work: string): Promise<number | undefined> {
  const host = await tx
    .selectFrom('hosts')
    .select('id')
    .orderBy('seen_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  if (!host) return undefined
  const open = await tx
    .selectFrom('operations')
    .select('id')
    .where('type', '=', work)
    .where('host_id', '=', host.id)
    .where('finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return open ? undefined : host.id
}
