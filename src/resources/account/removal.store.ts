import type { Selectable } from 'kysely'
import { announce, type Tx } from '../../platform/db/database.ts'
import type { AccountRemovalRow } from './tables.ts'

/** The removal of an account, from the request until the account is gone. */
export interface Removal {
  readonly id: number
  readonly accountId: number
  readonly operationId: number | null
  readonly wasSuspended: boolean
  readonly askedAt: number
  /** Until then it can be canceled. */
  readonly dueAt: number
  /** When the deletion began, or null while the removal can be canceled. */
  readonly begunAt: number | null
}

const removal = (row: Selectable<AccountRemovalRow>): Removal => ({
  id: row.id,
  accountId: row.account_id,
  operationId: row.operation_id,
  wasSuspended: row.was_suspended === 1,
  askedAt: row.asked_at,
  dueAt: row.due_at,
  begunAt: row.begun_at,
})

/** Returns the removal of an account, if one was requested. */
export async function findRemoval(tx: Tx, accountId: number): Promise<Removal | undefined> {
  const row = await tx.selectFrom('account_removals').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  return row && removal(row)
}

/** @returns the id of the removal. It is never given out again */
export async function insertRemoval(tx: Tx, values: Omit<Removal, 'id' | 'operationId'>): Promise<number> {
  const { id } = await tx
    .insertInto('account_removals')
    .values({
      account_id: values.accountId,
      operation_id: null,
      was_suspended: values.wasSuspended ? 1 : 0,
      asked_at: values.askedAt,
      due_at: values.dueAt,
      begun_at: values.begunAt,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** Notes the operation that removes the account. */
export async function setRemovalOperation(tx: Tx, removalId: number, operationId: number): Promise<void> {
  await tx.updateTable('account_removals').set({ operation_id: operationId }).where('id', '=', removalId).execute()
}

/** From now on the removal cannot be canceled. */
export async function markBegun(tx: Tx, removalId: number, now: number): Promise<void> {
  await tx.updateTable('account_removals').set({ begun_at: now }).where('id', '=', removalId).execute()
}

export async function deleteRemoval(tx: Tx, removalId: number): Promise<void> {
  await tx.deleteFrom('account_removals').where('id', '=', removalId).execute()
}

/** Deletes an account with its applications and its counts. Nothing else may refer to it. */
export async function deleteAccount(tx: Tx, accountId: number): Promise<void> {
  const applications = tx.selectFrom('applications').select('id').where('account_id', '=', accountId)
  await tx.deleteFrom('idempotency_keys').where('application_id', 'in', applications).execute()
  for (const table of ['applications', 'account_addons', 'mail_counts', 'account_removals'] as const)
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute()
  await tx.deleteFrom('accounts').where('id', '=', accountId).execute()
  await announce(tx, 'tokens')
}
