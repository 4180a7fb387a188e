import type { Tx } from '../../platform/db/database.ts'
import type { OperationView } from '../../platform/operations/read.ts'
import { displayNames } from '../sites/public.ts'
import type { OperationNames } from './operation.ts'

/** Returns the names of the subjects of operations that the account sees, by operation ID. */
export async function namesOfOperations(
  tx: Tx,
  accountId: number,
  operations: readonly OperationView[],
): Promise<ReadonlyMap<number, OperationNames>> {
  const siteNames = await displayNames(
    tx,
    accountId,
    operations.flatMap(({ siteId }) => siteId ?? []),
  )
  const people = [...new Set(operations.flatMap(({ askedById }) => askedById ?? []))]
  const accounts =
    people.length === 0
      ? []
      : await tx.selectFrom('accounts').select(['id', 'email']).where('id', 'in', people).execute()
  const emails = new Map(accounts.map(({ id, email }) => [id, email]))
  return new Map(
    operations.map(({ id, siteId, askedById }) => [
      id,
      {
        siteName: (siteId !== null && siteNames.get(siteId)) || null,
        accountEmail: (askedById !== null && emails.get(askedById)) || null,
      },
    ]),
  )
}
