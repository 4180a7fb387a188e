import type { Tx } from '../../platform/db/database.ts'
import type { FailureContext } from '../../platform/operations/definition.ts'
import { wasBegun } from '../../platform/operations/steps-of.ts'
import { AGAIN_MS, rememberFailure } from './failed-update.store.ts'

/**
 * Records that an update failed or was canceled, so that Stead does not retry the release automatically. One that has
 * yielded to another operation is retried.
 * @returns false when the site was not touched yet, in which case Stead retries later
 */
export async function rememberThatItFailed(
  tx: Tx,
  context: Pick<
    FailureContext<{ siteId: number; version: string }>,
    'operationId' | 'input' | 'canceled' | 'yielded' | 'now'
  >,
): Promise<boolean> {
  const { input, operationId, canceled, yielded } = context
  if (yielded) return false
  const now = context.now()
  const isFinal = canceled || (await wasBegun(tx, operationId, 'close'))
  const { siteId, version } = input
  await rememberFailure(tx, { siteId, version, againAt: isFinal ? null : now + AGAIN_MS, now })
  return isFinal
}

/** The alert for an update that failed, after which WordPress is as it was. */
export const undoneUpdate = (siteId: number) => ({ kind: 'update_undone', siteId, subject: 'WordPress' }) as const
