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
  readonly removal: AccountRemoval | null
}

/** How far the removal of an account is. */
export interface AccountRemoval {
  readonly operationId: number
  readonly askedAt: number
  readonly dueAt: number
  /** `waiting`: it can be canceled. `failed`: it can be retried. */
  readonly state: 'waiting' | 'removing' | 'failed'
}

/**
 * Returns accounts with their usage, in order of id.
 * @param only limits the result to this account
 */
export async function listAccountUsage(tx: Tx, page: RowsAsked, only: number | undefined): Promise<AccountUsage[]> {
  const withRemoval = tx
    .selectFrom('accounts')
    .leftJoin('account_removals', 'account_removals.account_id', 'accounts.id')
    .leftJoin('operations', 'operations.id', 'account_removals.operation_id')
  const all = withRemoval.select((eb) => [
    ...(['accounts.id', 'email', 'name', 'plan', 'accounts.created_at as createdAt'] as const),
    ...(['suspended_at as suspendedAt', 'operation_id', 'asked_at', 'due_at', 'begun_at'] as const),
    'operations.state as operationState',
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
  const query = (only === undefined ? all : all.where('accounts.id', '=', only)).orderBy('accounts.id')
  const rows = await rowsOfPage(query, page, { column: 'accounts.id', order: 'asc' }).execute()
  return rows.map((row) => ({
    ...{ id: row.id, email: row.email, name: row.name, plan: row.plan },
    ...{ createdAt: row.createdAt, suspendedAt: row.suspendedAt },
    isFirst: Number(row.firstId) === row.id,
    sites: Number(row.sites ?? 0),
    removal: removalOf(row),
  }))
}

function removalOf(row: {
  readonly operation_id: number | null
  readonly asked_at: number | null
  readonly due_at: number | null
  readonly begun_at: number | null
  readonly operationState: string | null
}): AccountRemoval | null {
  if (row.asked_at === null) return null
  const isOpen = row.operationState === 'queued' || row.operationState === 'running'
  const state = !isOpen ? 'failed' : row.begun_at === null ? 'waiting' : 'removing'
  return { operationId: row.operation_id ?? 0, askedAt: row.asked_at, dueAt: row.due_at ?? 0, state }
}

export async function countAccounts(tx: Tx, only: number | undefined): Promise<number> {
  if (only !== undefined) return 1
  const { count } = await tx
    .selectFrom('accounts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
