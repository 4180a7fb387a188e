import type { Tx } from '../../platform/db/database.ts'
import type { OperationView } from '../../platform/operations/read.ts'

/**
 * What a resource says about operations that it can undo.
 * @returns the IDs of those that it could undo now
 */
export type Undoable = (tx: Tx, operations: readonly OperationView[], now: number) => Promise<ReadonlySet<number>>
