import { type Selectable, sql } from 'kysely'
import { batches } from '../../../platform/batches.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import type { UpdatePolicyRow } from '../tables.ts'
import {
  effectivePolicy,
  type PolicyMode,
  type SitePolicy,
  type UpdatePolicy,
  usualPolicy,
  usualSitePolicy,
  type Weekday,
} from './policy.ts'
import { nextSlot } from './slots.ts'

const policyOf = <Mode extends string>(row: Selectable<UpdatePolicyRow>): UpdatePolicy<Mode> => ({
  ...{ mode: row.mode as Mode, weekday: row.weekday as Weekday, hour: row.hour, timeZone: row.time_zone },
  exclude: JSON.parse(row.exclude) as string[],
})

const rowOf = ({ mode, weekday, hour, timeZone, exclude }: SitePolicy): UpdatePolicyRow => ({
  ...{ mode, weekday, hour, time_zone: timeZone, exclude: JSON.stringify(exclude) },
})

/** Returns the default of an account. */
export async function policyOfAccount(tx: Tx, accountId: number): Promise<UpdatePolicy> {
  const all = tx.selectFrom('account_update_policies').selectAll()
  const row = await all.where('account_id', '=', accountId).executeTakeFirst()
  return row ? policyOf<PolicyMode>(row) : usualPolicy
}

export async function policyOfSite(tx: Tx, siteId: number): Promise<SitePolicy> {
  const row = await tx.selectFrom('site_update_policies').selectAll().where('site_id', '=', siteId).executeTakeFirst()
  return row ? policyOf<SitePolicy['mode']>(row) : usualSitePolicy
}

/** Returns the policy that counts for a site of an account. */
export const policyFor = async (tx: Tx, siteId: number, accountId: number): Promise<UpdatePolicy> =>
  effectivePolicy(await policyOfSite(tx, siteId), await policyOfAccount(tx, accountId))

/** Stores the policy of a site. Its turns begin again, and what was undone is tried again. */
export async function setPolicyOfSite(tx: Tx, siteId: number, policy: SitePolicy, now: number): Promise<void> {
  const row = rowOf(policy)
  await tx
    .insertInto('site_update_policies')
    .values({ site_id: siteId, ...row })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet(row))
    .execute()
  await tx.deleteFrom('update_turns').where('site_id', '=', siteId).execute()
  await tx.deleteFrom('undone_updates').where('site_id', '=', siteId).execute()
  await planTurns(tx, now, { most: 1, siteId })
}

/** Stores the default of an account, and does the same for the sites that inherit it. */
export async function setPolicyOfAccount(tx: Tx, accountId: number, policy: UpdatePolicy, now: number): Promise<void> {
  const row = rowOf(policy)
  await tx
    .insertInto('account_update_policies')
    .values({ account_id: accountId, ...row })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
    .execute()
  const inheriting = tx
    .selectFrom('sites')
    .leftJoin('site_update_policies as own', 'own.site_id', 'sites.id')
    .select('sites.id')
    .where('sites.account_id', '=', accountId)
    .where(({ eb, or }) => or([eb('own.mode', 'is', null), eb('own.mode', '=', 'inherit')]))
  await tx.deleteFrom('update_turns').where('site_id', 'in', inheriting).execute()
  await tx.deleteFrom('undone_updates').where('site_id', 'in', inheriting).execute()
  while ((await planTurns(tx, now, { most: 1000, accountId })) > 0);
}

/** When Stead looks at a site next. */
export interface UpdateTurn {
  readonly siteId: number
  /** The time of the policy that it is for. */
  readonly slotAt: number
  /** Later than that, if the site was busy. */
  readonly dueAt: number
  /** Whether the turn before tried a version again alone. */
  readonly isAfterTrial: boolean
}

/** A field of the policy that counts for a site. */
const effective = (column: 'mode' | 'weekday' | 'hour' | 'time_zone') => {
  const [own, usual] = [sql.ref(`own.${column}`), sql.ref(`usual.${column}`)]
  return sql<string>`case when own.mode is null or own.mode = 'inherit' then ${usual} else ${own} end`
}

/**
 * Gives a turn to sites that have a policy and no turn yet.
 * @returns how many. Call again until it is 0
 */
export async function planTurns(
  tx: Tx,
  now: number,
  only: { readonly most: number; readonly siteId?: number; readonly accountId?: number },
): Promise<number> {
  let wanted = tx
    .selectFrom('sites')
    .leftJoin('update_turns as turn', 'turn.site_id', 'sites.id')
    .leftJoin('site_update_policies as own', 'own.site_id', 'sites.id')
    .leftJoin('account_update_policies as usual', 'usual.account_id', 'sites.account_id')
    .select(['sites.id', effective('mode').as('mode'), effective('weekday').as('weekday')])
    .select([effective('hour').as('hour'), effective('time_zone').as('timeZone')])
    .where('turn.site_id', 'is', null)
    .where('sites.deleted_at', 'is', null)
    .where(effective('mode'), '<>', 'off')
    .orderBy('sites.id')
    .limit(only.most)
  if (only.siteId !== undefined) wanted = wanted.where('sites.id', '=', only.siteId)
  if (only.accountId !== undefined) wanted = wanted.where('sites.account_id', '=', only.accountId)
  const rows = (await wanted.execute()).flatMap(({ id, mode, weekday, hour, timeZone }) => {
    const policy = { mode: mode as PolicyMode, weekday: weekday as Weekday, hour: Number(hour), timeZone }
    const slot = nextSlot(policy, now)
    return slot === null ? [] : [{ site_id: id, slot_at: slot, due_at: slot }]
  })
  for (const some of batches(rows, 1000))
    await tx
      .insertInto('update_turns')
      .values(some)
      .onConflict((conflict) => conflict.column('site_id').doNothing())
      .execute()
  return rows.length
}

export async function turnOf(tx: Tx, siteId: number): Promise<UpdateTurn | undefined> {
  const row = await tx.selectFrom('update_turns').selectAll().where('site_id', '=', siteId).executeTakeFirst()
  return row && { siteId, slotAt: Number(row.slot_at), dueAt: Number(row.due_at), isAfterTrial: row.after_trial === 1 }
}

/** Sets the next turn of a site, or none. */
export async function setTurn(tx: Tx, siteId: number, turn: Omit<UpdateTurn, 'siteId'> | null): Promise<void> {
  if (turn === null) await tx.deleteFrom('update_turns').where('site_id', '=', siteId).execute()
  else
    await tx
      .updateTable('update_turns')
      .set({ slot_at: turn.slotAt, due_at: turn.dueAt, after_trial: turn.isAfterTrial ? 1 : 0 })
      .where('site_id', '=', siteId)
      .execute()
}

/** The wait for a site that is busy, and for a directory that does not answer. */
export const LATER_MS = 10 * MINUTE_MS

/** The origin of an update that a policy has started. */
interface PolicySource {
  /** The time of the policy that it is for. */
  readonly policySlotAt: number
}
export const sourceOf = ({ slotAt }: UpdateTurn): PolicySource => ({ policySlotAt: slotAt })

/**
 * Repeats the turn of an update that a policy has started.
 * @returns false if no policy has started it
 */
export async function repeatTurnOf(
  tx: Tx,
  { siteId, source, now }: { readonly siteId: number; readonly source: unknown; readonly now: number },
): Promise<boolean> {
  const { policySlotAt: slotAt } = (source ?? {}) as Partial<PolicySource>
  if (slotAt === undefined) return false
  const next = await turnOf(tx, siteId)
  if (next) await setTurn(tx, siteId, { slotAt, dueAt: now + LATER_MS, isAfterTrial: false })
  return true
}

/** No turn is further ahead than a week and a day. One that is was set before the clock was set back. */
const FURTHEST_MS = 8 * DAY_MS

/** Deletes turns that would not come for long. */
export async function deleteFarTurns(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('update_turns')
    .where('slot_at', '>', now + FURTHEST_MS)
    .execute()
}

/** Returns the site that has waited longest for its turn, of those on hosts without a safe update. */
export async function nextDue(tx: Tx, type: string, now: number): Promise<number | undefined> {
  const row = await tx
    .selectFrom('update_turns as turn')
    .leftJoin('sites', 'sites.id', 'turn.site_id')
    .select('turn.site_id')
    .where('turn.due_at', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operations')
            .select('operations.id')
            .whereRef('operations.host_id', '=', 'sites.host_id')
            .where('operations.type', '=', type)
            .where('operations.finished_at', 'is', null),
        ),
      ),
    )
    .orderBy('turn.due_at')
    .orderBy('turn.site_id')
    .limit(1)
    .executeTakeFirst()
  return row && Number(row.site_id)
}

/** A missing site is reported once a day. */
const LOST_MS = 2 * DAY_MS

/** Returns whether a site's files are missing, or its account is suspended. */
export async function isOutOfUse(tx: Tx, siteId: number, now: number): Promise<boolean> {
  const row = await tx
    .selectFrom('sites')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .select(['sites.lost_at', 'accounts.suspended_at'])
    .where('sites.id', '=', siteId)
    .executeTakeFirst()
  if (!row || row.suspended_at !== null) return true
  return row.lost_at !== null && Number(row.lost_at) >= now - LOST_MS
}

/** Deletes what belongs to a site. */
export async function deletePolicyOfSite(tx: Tx, siteId: number): Promise<void> {
  for (const table of ['site_update_policies', 'update_turns', 'undone_updates'] as const)
    await tx.deleteFrom(table).where('site_id', '=', siteId).execute()
}

export async function deletePolicyOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('account_update_policies').where('account_id', '=', accountId).execute()
}
