import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import { addSums, readSums, type Sums, type Window, type WindowName, windowNames } from './windows.ts'

/** The statistics of a site at the last refresh. */
export interface SiteStatistics {
  readonly sums: Sums
  readonly databaseBytes: number
  readonly fileBytes: number
}

/** Returns zeros for a site that is younger than the last refresh. */
export async function siteStatistics(tx: Tx, siteId: number): Promise<SiteStatistics> {
  const [row] = await siteRow(tx, { siteId })
  return { sums: readSums(row?.page_views), databaseBytes: row?.database_bytes ?? 0, fileBytes: row?.file_bytes ?? 0 }
}

const siteRow = precompiled((tx, { siteId }: { siteId: number }) =>
  tx.selectFrom('site_statistics').select(['page_views', 'database_bytes', 'file_bytes']).where('site_id', '=', siteId),
)

/** Returns page views by day of a span and disk usage, by ID, for those of these sites that the account sees. */
export async function figuresOfSites(
  tx: Tx,
  accountId: number,
  siteIds: readonly number[],
  { from, to }: Window,
): Promise<{ id: number; views: ReadonlyMap<number, number>; databaseBytes: number; fileBytes: number }[]> {
  const sites = await tx
    .selectFrom('site_access')
    .leftJoin('site_statistics', 'site_statistics.site_id', 'site_access.site_id')
    .select(['site_access.site_id as id', 'database_bytes', 'file_bytes'])
    .where('site_access.account_id', '=', accountId)
    .where('site_access.is_deleted', '=', sql.lit(0))
    .where('site_access.site_id', 'in', siteIds)
    .orderBy('site_access.site_id')
    .execute()
  if (sites.length === 0) return []
  const days = await tx
    .selectFrom('page_view_days')
    .select(['site_id', 'day', 'views'])
    .where(
      'site_id',
      'in',
      sites.map(({ id }) => id),
    )
    .where('day', '>=', from)
    .where('day', '<=', to)
    .execute()
  const bySite = Map.groupBy(days, (row) => row.site_id)
  return sites.map(({ id, database_bytes, file_bytes }) => ({
    id,
    views: new Map((bySite.get(id) ?? []).map(({ day, views }) => [day, Number(views)])),
    databaseBytes: Number(database_bytes ?? 0),
    fileBytes: Number(file_bytes ?? 0),
  }))
}

/** Returns the views of a site on each day of a span, without days that have none. */
export async function viewsByDay(
  tx: Tx,
  siteId: number,
  { from, to }: Window,
): Promise<Map<number, readonly [people: number, views: number]>> {
  const rows = await tx
    .selectFrom('page_view_days')
    .select(['day', 'people', 'views'])
    .where('site_id', '=', siteId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .execute()
  return new Map(rows.map(({ day, people, views }) => [day, [Number(people), Number(views)]]))
}

/** Sums up all sites that the account owns. */
export async function accountSums(tx: Tx, accountId: number): Promise<Sums> {
  const [row] = await accountRow(tx, { accountId })
  return readSums(row?.page_views)
}

const accountRow = precompiled((tx, { accountId }: { accountId: number }) =>
  tx.selectFrom('account_statistics').select('page_views').where('account_id', '=', accountId),
)

/** Returns the IDs of sites that are not deleted, or of accounts, in order. */
export async function nextIds(tx: Tx, of: 'site' | 'account', after: number, limit: number): Promise<number[]> {
  const from = of === 'site' ? sql`sites where deleted_at is null and` : sql`accounts where`
  const { rows } = await sql<{ id: number }>`
    select id from ${from} id > ${after} order by id limit ${limit}`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Sums up page views of some sites. Leaves out sites without any. */
export async function sumSites(
  tx: Tx,
  siteIds: readonly number[],
  windows: Record<WindowName, Window>,
): Promise<Map<number, Sums>> {
  const within = (name: WindowName, column: string) =>
    sql`coalesce(sum(case when day between ${windows[name].from} and ${windows[name].to} then ${sql.ref(column)} end), 0)`
  const columns = windowNames.flatMap((name) => [
    sql`${within(name, 'people')} as ${sql.ref(`${name}_people`)}`,
    sql`${within(name, 'views')} as ${sql.ref(`${name}_views`)}`,
  ])
  const { rows } = await sql<{ id: number } & Record<string, number>>`
    select site_id as id, ${sql.join(columns)} from page_view_days
    where site_id in (${sql.join(siteIds)}) group by site_id`.execute(tx)
  return new Map(
    rows.map((row) => [
      row.id,
      Object.fromEntries(
        windowNames.map((name) => [name, [Number(row[`${name}_people`]), Number(row[`${name}_views`])]]),
      ) as unknown as Sums,
    ]),
  )
}

/** The views of one site on one day, with its stored sums. */
export interface DayOfSite {
  readonly siteId: number
  readonly accountId: number
  readonly people: number
  readonly views: number
  /** JSON, or `null` if nothing was summed up yet. */
  readonly stored: string | null
  readonly refreshedAt: number | null
}

/** Sites with visits on a day, in order of ID. */
export async function sitesVisitedOn(tx: Tx, day: number, after: number, limit: number): Promise<DayOfSite[]> {
  const rows = await tx
    .selectFrom('page_view_days')
    .innerJoin('sites', 'sites.id', 'page_view_days.site_id')
    .leftJoin('site_statistics', 'site_statistics.site_id', 'page_view_days.site_id')
    .select(['sites.id as siteId', 'sites.account_id as accountId', 'people', 'views'])
    .select(['site_statistics.page_views as stored', 'site_statistics.refreshed_at as refreshedAt'])
    .where('page_view_days.day', '=', day)
    .where('page_view_days.site_id', '>', after)
    .where('sites.deleted_at', 'is', null)
    .orderBy('page_view_days.site_id')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ ...row, people: Number(row.people), views: Number(row.views) }))
}

/** Adds up the stored sums of all sites of each account. */
export async function sumAccounts(tx: Tx, accountIds: readonly number[]): Promise<Map<number, Sums>> {
  const rows = await tx
    .selectFrom('sites')
    .innerJoin('site_statistics', 'site_statistics.site_id', 'sites.id')
    .select(['sites.account_id', 'site_statistics.page_views'])
    .where('sites.account_id', 'in', accountIds)
    .where('sites.deleted_at', 'is', null)
    .execute()
  const byAccount = Map.groupBy(rows, (row) => row.account_id)
  return new Map(
    [...byAccount].map(([id, sites]) => [id, sites.map((row) => readSums(row.page_views)).reduce(addSums)]),
  )
}

/** Returns the stored sums of some sites or accounts, as text. */
export async function storedSums(tx: Tx, of: 'site' | 'account', ids: readonly number[]): Promise<Map<number, string>> {
  const [table, key] = of === 'site' ? ['site_statistics', 'site_id'] : ['account_statistics', 'account_id']
  const { rows } = await sql<{ id: number; page_views: string }>`
    select ${sql.ref(key)} as id, page_views from ${sql.table(table)} where ${sql.ref(key)} in (${sql.join(ids)})`.execute(
    tx,
  )
  return new Map(rows.map((row) => [row.id, row.page_views]))
}

/** Stores sums of sites or accounts. */
export async function storeSums(
  tx: Tx,
  of: 'site' | 'account',
  sums: ReadonlyMap<number, Sums>,
  now: number,
): Promise<void> {
  const values = [...sums].map(([id, each]) => ({ id, page_views: JSON.stringify(each), refreshed_at: now }))
  if (values.length === 0) return
  if (of === 'site')
    await tx
      .insertInto('site_statistics')
      .values(values.map(({ id, ...rest }) => ({ site_id: id, ...rest })))
      .onConflict((conflict) =>
        conflict.column('site_id').doUpdateSet((excluded) => ({
          page_views: excluded.ref('excluded.page_views'),
          refreshed_at: now,
        })),
      )
      .execute()
  else
    await tx
      .insertInto('account_statistics')
      .values(values.map(({ id, ...rest }) => ({ account_id: id, ...rest })))
      .onConflict((conflict) =>
        conflict.column('account_id').doUpdateSet((excluded) => ({
          page_views: excluded.ref('excluded.page_views'),
          refreshed_at: now,
        })),
      )
      .execute()
}

/** The disk usage of a site on its host. */
export interface SiteDiskUsage {
  readonly databaseBytes: number
  readonly fileBytes: number
}

/** Stores the disk usage of sites. */
export async function storeUsages(tx: Tx, usages: ReadonlyMap<number, SiteDiskUsage>, now: number): Promise<void> {
  if (usages.size === 0) return
  const values = [...usages].map(([siteId, { databaseBytes, fileBytes }]) => ({
    site_id: siteId,
    page_views: '{}',
    refreshed_at: now,
    database_bytes: databaseBytes,
    file_bytes: fileBytes,
  }))
  await tx
    .insertInto('site_statistics')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('site_id').doUpdateSet(({ ref }) => ({
        database_bytes: ref('excluded.database_bytes'),
        file_bytes: ref('excluded.file_bytes'),
      })),
    )
    .execute()
  // Lists of sites sort by it.
  for (const [siteId, { databaseBytes, fileBytes }] of usages)
    await tx
      .updateTable('site_access')
      .set({ used_bytes: databaseBytes + fileBytes })
      .where('site_id', '=', siteId)
      .execute()
}

/** Returns the hosts that have sites. */
export async function hostIds(tx: Tx): Promise<number[]> {
  const rows = await tx.selectFrom('sites').select('host_id').distinct().where('deleted_at', 'is', null).execute()
  return rows.flatMap(({ host_id }) => host_id ?? [])
}
