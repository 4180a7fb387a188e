import { BackupDamaged, type BackupRepository } from '../../../backups/backup-store.ts'
import {
  type DatabaseContent,
  DumpUnreadable,
  type SitePlace,
} from '../../../hosting/site-database/database-content.ts'
import { DiskFull } from '../../../hosting/site-directories/disk-space.ts'
import { orRemove } from '../take/read-back.ts'

const MB = 1 << 20
/**
 * Stead test-loads every dump up to this size. Of larger ones it loads every second, every third, and so on, which is
 * as much work on average.
 */
export const TRIED_EACH_BYTES = 64 * MB
/** A larger dump is left to the weekly proof. */
export const MOST_TRIED_BYTES = 4096 * MB

/**
 * Returns whether to test-load a dump of this size.
 * @param untried number of backups completed since the last test load
 */
export const isDue = (bytes: number, untried: number): boolean =>
  bytes <= Math.min(MOST_TRIED_BYTES, TRIED_EACH_BYTES * (untried + 1))

interface Trial {
  /** Name in the storage. */
  readonly name: string
  readonly site: SitePlace
  /** Size of the dump. */
  readonly bytes: number
  readonly untried?: number
  readonly signal: AbortSignal
  readonly yieldWhileBusy: () => Promise<void>
}

export interface Tried {
  readonly isTriedOut: boolean
  readonly warning?: string
}

/**
 * When it is this backup's turn, loads its dump from the storage next to the site. Compares the result with what the
 * dump says. Removes a backup that cannot be restored.
 * @throws BackupDamaged
 */
export async function tryOut(
  { siteDatabase, repository }: { readonly siteDatabase: DatabaseContent; readonly repository: BackupRepository },
  { name, site, bytes, untried = 0, signal, yieldWhileBusy }: Trial,
): Promise<Tried> {
  if (!isDue(bytes, untried)) return { isTriedOut: false }
  async function* paced() {
    for await (const piece of repository.readStream(name)) {
      await yieldWhileBusy()
      yield piece
    }
  }
  try {
    await orRemove(repository, { name, signal }, async () => {
      const difference = await siteDatabase.tryOut(site, paced(), { signal }).catch((error) => {
        if (!(error instanceof DumpUnreadable)) throw error
        throw new BackupDamaged(`The backup cannot be restored: ${error.message}`, { cause: error })
      })
      if (difference) throw new BackupDamaged(`The backup cannot be restored exactly: ${difference}`)
    })
    return { isTriedOut: true }
  } catch (error) {
    if (!(error instanceof DiskFull)) throw error
    return {
      isTriedOut: false,
      warning: 'Stead did not load this backup to check it, because the disk of the host is full',
    }
  }
}
