import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { freeSlots, insertBackup } from '../backup.store.ts'
import { type Backup, type BackupKind, MOST_ON_DEMAND, NEWEST_KEPT_MS, type Origin, UNDO_KEPT_MS } from '../backup.ts'
import { problems } from '../problems.ts'

/**
 * Adds the row of a backup that is about to be taken, in the transaction that requests the work. On-demand backups take
 * a slot, so hold the site.
 * @throws Problem `backup_limit_reached`
 */
export async function orderBackup(
  tx: Tx,
  order: { siteId: number; kind: BackupKind; origin: Origin; createdBy: string | null; now: number },
): Promise<Backup> {
  const { siteId, kind, origin, now } = order
  if (origin === 'ondemand' && (await freeSlots(tx, siteId, kind)) === 0)
    throw new Problem(problems.backup_limit_reached, { limit: MOST_ON_DEMAND, type: kind })
  return insertBackup(tx, { ...order, deleteAt: now + (origin === 'undo' ? UNDO_KEPT_MS : NEWEST_KEPT_MS) })
}
