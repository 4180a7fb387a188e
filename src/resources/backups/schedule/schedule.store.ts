import { type SqlBool, sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import { nextTurn, type Rhythm, rhythms } from './backup-times.ts'

const columns = { files: 'files_at', database: 'database_at', proof: 'proof_at' } as const

/**
 * Gives a schedule to sites that have content and no schedule yet.
 * @returns how many it scheduled. Call again until it is 0
 */
export async function scheduleNewSites(tx: Tx, now: number, most: number): Promise<number> {
  const sites = await tx
    .selectFrom('sites')
    .select('id')
    .where('deleted_at', 'is', null)
    .where('state', 'in', ['live', 'disabled'])
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('backup_schedules').select('site_id').whereRef('site_id', '=', 'sites.id'))),
    )
    .orderBy('id')
    .limit(most)
    .execute()
  if (sites.length === 0) return 0
  const rows = sites.map(({ id }) => ({
    site_id: id,
    files_at: nextTurn(id, 'files', now),
    database_at: nextTurn(id, 'database', now),
    proof_at: nextTurn(id, 'proof', now),
    told_at: null,
  }))
  await tx
    .insertInto('backup_schedules')
    .values(rows)
    .onConflict((conflict) => conflict.column('site_id').doNothing())
    .execute()
  return sites.length
}

export interface SiteDueForBackup {
  readonly siteId: number
  readonly accountId: number
  readonly hostId: number
}

/**
 * Takes sites whose turn has come, and sets their next turn. Missed turns count as one. A turn further ahead than the
 * next one was written before the clock was set back.
 */
export async function takeDue(tx: Tx, rhythm: Rhythm, now: number, most: number): Promise<SiteDueForBackup[]> {
  const column = columns[rhythm]
  const due = await tx
    .selectFrom('backup_schedules')
    .innerJoin('sites', 'sites.id', 'backup_schedules.site_id')
    .select(['sites.id as siteId', 'sites.account_id as accountId', 'sites.host_id as hostId'])
    .where(({ or, eb }) => or([eb(column, '<=', now), eb(column, '>', now + 2 * rhythms[rhythm].everyMs)]))
    .where('sites.deleted_at', 'is', null)
    .where('sites.host_id', 'is not', null)
    .orderBy(column)
    .limit(most)
    .execute()
  for (const { siteId } of due)
    await tx
      .updateTable('backup_schedules')
      .set({ [column]: nextTurn(siteId, rhythm, now) })
      .where('site_id', '=', siteId)
      .execute()
  return due as SiteDueForBackup[]
}

/** Repeats a turn of a site at this time, unless the next one comes before it. */
export async function repeatTurn(tx: Tx, siteId: number, rhythm: Rhythm, at: number): Promise<void> {
  const column = columns[rhythm]
  await tx
    .updateTable('backup_schedules')
    .set({ [column]: at })
    .where('site_id', '=', siteId)
    .where(column, '>', at)
    .execute()
}

/** Returns whether the site's owner may get a mail about a failure now. If so, counts it as sent. */
export async function takeTelling(tx: Tx, siteId: number, when: { now: number; unlessSince: number }) {
  const row = await tx
    .updateTable('backup_schedules')
    .set({ told_at: when.now })
    .where('site_id', '=', siteId)
    .where(({ eb, or }) => or([eb('told_at', 'is', null), eb('told_at', '<', when.unlessSince)]))
    .returning('site_id')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether a scheduled backup waits or is being taken. */
export async function scheduledUnderWay(tx: Tx, siteId: number, kind: 'fs' | 'db'): Promise<boolean> {
  const row = await tx
    .selectFrom('backups')
    .select('id')
    .where('site_id', '=', siteId)
    .where('kind', '=', kind)
    .where('origin', '=', 'scheduled')
    .where('state', '=', 'creating')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Condition for backups that may be removed. The newest scheduled one of a kind stays, however old, until there is a
 * newer one: when backups fail for weeks, the last good one is all that the site has.
 */
const mayGo = (now: number) => sql<SqlBool>`b.state in ('completed', 'failed') and b.delete_at <= ${now}
  and not (b.origin = 'scheduled' and b.state = 'completed' and not exists (select 1 from backups n
    where n.site_id = b.site_id and n.kind = b.kind and n.state = 'completed' and n.origin = 'scheduled'
      and (n.completed_at > b.completed_at or n.completed_at = b.completed_at and n.id > b.id)))`

/** A site's hourly backups are removed together, once a day. Backups that users requested are removed on time. */
const GATHER_MS = 86_400_000

/** Returns sites with expired backups that no operation removes yet. */
export async function sitesWithExpired(tx: Tx, now: number, most: number): Promise<SiteDueForBackup[]> {
  const { rows } = await sql<SiteDueForBackup>`
    select s.id as "siteId", s.account_id as "accountId", s.host_id as "hostId" from sites s
    where s.deleted_at is null and s.host_id is not null
      and s.id in (select b.site_id from backups b where ${mayGo(now)}
        and (b.origin <> 'scheduled' or b.delete_at <= ${now - GATHER_MS}))
      and not exists (select 1 from operations o
        where o.site_id = s.id and o.type = 'backup.expire' and o.finished_at is null)
    order by s.id limit ${most}`.execute(tx)
  return rows
}

export interface Expired {
  readonly id: number
  readonly kind: 'fs' | 'db'
  readonly origin: 'ondemand' | 'scheduled' | 'undo'
  readonly state: 'completed' | 'failed'
  readonly name: string | null
}

export async function expiredOf(tx: Tx, siteId: number, now: number): Promise<Expired[]> {
  const { rows } = await sql<Expired>`
    select b.id, b.kind, b.origin, b.state, b.name from backups b where b.site_id = ${siteId} and ${mayGo(now)} order by b.id`.execute(
    tx,
  )
  return rows
}
