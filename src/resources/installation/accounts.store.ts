import type { Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'

export interface AccountUsage {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly plan: string
  readonly createdAt: number
  /** Null if it is not suspended. */
  readonly suspendedAt: number | null
  /** Whether it created the installation. */
  readonly isFirst: boolean
  /** Sites in the trash do not count. */
  readonly sites: number
}

/**
 * Returns accounts with their usage, in order of id.
 * @param only limits the result to this account
 */
export async function listAccountUsage(tx: Tx, page: RowsAsked, only: number | undefined): Promise<AccountUsage[]> {
  const all = tx.selectFrom('accounts').select((eb) => [
    ...(['id', 'email', 'name', 'plan', 'created_at as createdAt', 'suspended_at as suspendedAt'] as const),
    eb
      .selectFrom('sites')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .whereRef('sites.account_id', '=', 'accounts.id')
      .where('sites.deleted_at', 'is', null)
      .as('sites'),
    eb
      .selectFrom('accounts as first')
      .select(({ fn }) => fn.min<number>('first.id').as('id'))
      .as('firstId'),
  ])
  const query = (only === undefined ? all : all.where('accounts.id', '=', only)).orderBy('id')
  const rows = await rowsOfPage(query, page, { column: 'id', order: 'asc' }).execute()
  return rows.map(({ firstId, sites, ...row }) => ({
    ...row,
    isFirst: Number(firstId) === row.id,
    sites: Number(sites ?? 0),
  }))
}

export async function countAccounts(tx: Tx, only: number | undefined): Promise<number> {
  if (only !== undefined) return 1
  const { count } = await tx
    .selectFrom('accounts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
