import type { Tx } from '../db/database.ts'
import type { StepContext } from './definition.ts'

/** The rows of one transaction, few enough not to keep other writers waiting for long. */
export const BATCH = 500

/**
 * Runs `work` in one transaction after another until it finds nothing more to do.
 * @param work handles one batch and returns how many rows it found
 * @returns the total number of rows
 */
export async function inBatches(
  { transaction, signal }: Pick<StepContext, 'transaction' | 'signal'>,
  work: (tx: Tx) => Promise<number>,
): Promise<number> {
  let total = 0
  for (;;) {
    signal.throwIfAborted()
    const count = await transaction(work)
    if (count === 0) return total
    total += count
  }
}
