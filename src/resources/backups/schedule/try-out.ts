import { BackupDamaged, type BackupRepository } from '../../../backups/backup-store.ts'
import {
  type DatabaseContent,
  DumpUnreadable,
  type SitePlace,
} from '../../../hosting/site-database/database-content.ts'
import { DiskFull } from '../../../hosting/site-directories/disk-space.ts'
import { orRemove } from '../take/read-back.ts'

const MB = 1 << 20
/** Stead loads every dump of up to this size. Of larger ones it loads every second, every third, and so on: as much work on average. */
export const TRIED_EACH_BYTES = 64 * MB
/** A larger dump is left to the weekly proof. */
export const MOST_TRIED_BYTES = 4096 * MB

/** @param untried backups that were completed since the last one that was tried out */
export const isDue = (bytes: number, untried: number): boolean =>
  bytes <= Math.min(MOST_TRIED_BYTES, TRIED_EACH_BYTES * (untried + 1))

interface Trial {
  /** In the storage. */
  readonly name: string
  readonly site: SitePlace
  /** Of the dump. */
  readonly bytes: number
  readonly untried?: number
  readonly signal: AbortSignal
  readonly yieldWhileBusy: () => Promise<void>
}

/**
 * Loads a dump from the storage beside the site and compares what is there with what the dump says, when it is this backup's turn. One that
 * cannot be restored is removed.
 * @throws BackupDamaged
 */
export async function tryOut(
  { siteDatabase, repository }: { readonly siteDatabase: DatabaseContent; readonly repository: BackupRepository },
  { name, site, bytes, untried = 0, signal, yieldWhileBusy }: Trial,
): Promise<{ isTriedOut: boolean; warning?: string }> {
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
