import type { Tx } from '../db/database.ts'
import type { StepContext } from './definition.ts'

/** A transaction's worth of rows: it must not keep other writers waiting for long. */
export const BATCH = 500

/**
 * Runs `work` in one transaction after the other until it finds nothing more to do.
 * @param work does one batch; returns how many rows it found
 * @returns how many rows there were altogether
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
