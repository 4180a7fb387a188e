import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { countQueued } from '../../platform/operations/read.ts'
import { problems } from './problems.ts'

/** The limit of a site, and of the operations of an account that belong to no site. */
const MOST_QUEUED = 100

/** @throws Problem `operation_limit_reached` when too many operations are queued besides the new one */
export async function admitOperation(operationId: number, tx: Tx): Promise<void> {
  if ((await countQueued(tx, operationId)) > MOST_QUEUED)
    throw new Problem(problems.operation_limit_reached, { limit: MOST_QUEUED }, { headers: { 'retry-after': '30' } })
}
