import { archiveBytes } from '../../../backups/archive/archive.ts'
import { PIECE } from '../../../backups/archive/archive-lengths.ts'
import { Bzip2Threads } from '../../../backups/archive/bzip2-threads.ts'
import { treeBytes } from '../../../backups/archive/tar.ts'
import { createYieldWhileBusy } from '../../../platform/yield-while-busy.ts'
import type { HostServices } from '../../kit/host-services.ts'
import type { Backup } from '../backup.ts'
import { saveLengths } from '../download/archive-lengths.store.ts'
import { archiveOf, knownLengths } from '../download/archive-of.ts'

/**
 * Limit for one archive, enough for about 3 GB of files. Stead keeps what it has measured by then, and `backup.measure`
 * or a download continues from there.
 */
const MOST_MS = 600_000

type Services = Pick<HostServices, 'backups' | 'database'> & {
  readonly pool: Pick<HostServices['pool'], 'servesVisitors'>
}

/**
 * Measures the archive of a file backup by creating it once. Yields to visitors before each of its pieces.
 * @returns null when it takes too long
 * @throws BackupMissing, BackupDamaged, StorageFailure
 */
export async function measureBackup(
  { backups, database, pool }: Services,
  backup: Pick<Backup, 'id' | 'siteId' | 'name' | 'coreVersion'>,
  { signal, mostMs = MOST_MS, progress }: { signal: AbortSignal; mostMs?: number; progress(fraction: number): void },
): Promise<number | null> {
  const archive = await archiveOf(backups, backup)
  const lengths = await knownLengths(database.read, backup.id, archive)
  const pieces = Math.ceil((await treeBytes(archive.sources)) / PIECE)
  const yieldWhileBusy = createYieldWhileBusy({ isWanted: () => pool.servesVisitors() })
  const late = AbortSignal.timeout(mostMs)
  const threads = new Bzip2Threads(1)
  try {
    const options = { lengths, threads, signal: AbortSignal.any([signal, late]) }
    for await (const _ of archiveBytes(archive.sources, lengths.knownBytes, options)) {
      progress(Math.min(1, lengths.count / pieces))
      await yieldWhileBusy()
    }
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error
  } finally {
    await threads.close()
    await database.transaction((tx) => saveLengths(tx, backup.id, lengths, archive.core))
  }
  return lengths.totalBytes ?? null
}
