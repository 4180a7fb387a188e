import type { Tx } from '../../../platform/db/database.ts'

/** A site of an account that is being removed. */
export interface SiteLeft {
  readonly id: number
  readonly name: string
  readonly hostId: number | null
  /** Whether it is in the trash, or on its way there. */
  readonly isDeleted: boolean
}

/**
 * Returns the sites of an account that are not purged, in order of id: those in lists, and those in the trash.
 * @param only limits the result to this site
 */
export async function sitesLeftOf(tx: Tx, accountId: number, only?: number): Promise<SiteLeft[]> {
  const rows = await tx
    .selectFrom('sites')
    .select(['id', 'name', 'host_id', 'deleted_at'])
    .where('account_id', '=', accountId)
    .$if(only !== undefined, (query) => query.where('id', '=', only as number))
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('deleted_at', 'is', null),
        exists(selectFrom('site_access').select('site_id').whereRef('site_id', '=', 'sites.id')),
        exists(selectFrom('site_homes').select('site_id').whereRef('site_id', '=', 'sites.id')),
        exists(selectFrom('routes').select('site_id').whereRef('site_id', '=', 'sites.id')),
      ]),
    )
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hostId: row.host_id,
    isDeleted: row.deleted_at !== null,
  }))
}

/** Returns the unfinished operations of an account, without those that remove its sites. */
export async function openWorkOf(tx: Tx, accountId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('operations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('finished_at', 'is', null)
    .where('type', 'not in', ['site.remove', 'site.purge'])
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
