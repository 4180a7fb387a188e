import { sql } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import { invitedPlan } from '../../account/public.ts'

/** A person with access to sites of an account. */
export interface PersonOf {
  readonly id: number
  readonly email: string
  readonly name: string
  /**
   * Whether their account goes too: they were invited, own nothing, have no API credentials, and have no access to
   * other accounts.
   */
  readonly isLeaving: boolean
}

/**
 * Returns the people with access to an account, in order of id.
 * @param among people who had access before its sites went. Default: those who have
 */
export async function peopleOf(tx: Tx, ownerId: number, among?: readonly number[]): Promise<PersonOf[]> {
  if (among?.length === 0) return []
  const { rows } = await sql<{ id: number; email: string; name: string; leaves: number }>`
    select p.id, p.email, p.name, case when p.plan = ${invitedPlan}
      and p.id <> (select min(id) from accounts)
      and not exists (select 1 from sites where account_id = p.id)
      and not exists (select 1 from zones where account_id = p.id and deleted_at is null)
      and not exists (select 1 from collaborators where account_id = p.id and owner_account_id <> ${ownerId})
      and not exists (select 1 from account_access where account_id = p.id and owner_account_id <> ${ownerId})
      and not exists (select 1 from account_access where owner_account_id = p.id)
      and not exists (select 1 from applications where account_id = p.id and client_id <> ${sql`'panel-' || p.id`})
      and not exists (select 1 from account_removals where account_id = p.id)
      then 1 else 0 end as leaves
    from accounts p where p.id <> ${ownerId} and ${
      among
        ? sql`p.id in (${sql.join([...among])})`
        : sql`(p.id in (select account_id from collaborators where owner_account_id = ${ownerId})
          or p.id in (select account_id from account_access where owner_account_id = ${ownerId}))`
    } order by p.id`.execute(tx)
  return rows.map(({ leaves, id, ...person }) => ({ ...person, id: Number(id), isLeaving: Number(leaves) === 1 }))
}

/** Returns the ids of all sites that an account has or had. */
export async function siteIdsOf(tx: Tx, accountId: number): Promise<number[]> {
  const rows = await tx.selectFrom('sites').select('id').where('account_id', '=', accountId).orderBy('id').execute()
  return rows.map(({ id }) => id)
}
