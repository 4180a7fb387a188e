import { ARCHIVE_FORMAT } from '../../../backups/archive/archive.ts'
import { type ArchiveLengths, PIECE } from '../../../backups/archive/archive-lengths.ts'
import { type TreeSource, treeBytes } from '../../../backups/archive/tar.ts'
import { BackupMissing, type BackupStore } from '../../../backups/backup-store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { type Backup, CORE_BACKUP, coreOwner, nameInRepository, siteOwner } from '../backup.ts'
import { lengthsOfCore, loadLengths } from './archive-lengths.store.ts'

/** The archive of a backup of files. */
export interface ArchiveOf {
  /** The content of a site's web root: first the core, which all sites share, then the site's own files. */
  readonly sources: readonly TreeSource[]
  /** When each source was stored. A core that was lost and stored again may have other file times. */
  readonly keptAt: readonly number[]
  /** Name of the core that the archive begins with, or null for none. */
  readonly core: string | null
}

/** @throws BackupMissing */
export async function archiveOf(
  backups: Pick<BackupStore, 'repository'>,
  backup: Pick<Backup, 'id' | 'siteId' | 'name' | 'coreVersion'>,
): Promise<ArchiveOf> {
  const own = { repository: backups.repository(siteOwner(backup.siteId)), name: nameInRepository(backup) }
  const { coreVersion } = backup
  const core = coreVersion && { repository: backups.repository(coreOwner(coreVersion)), name: CORE_BACKUP }
  const sources: TreeSource[] = core ? [core, own] : [own]
  const keptAt = await Promise.all(
    sources.map(async ({ repository, name }) => {
      const facts = await repository.find(name)
      if (!facts) throw new BackupMissing(`The storage has no backup ${name}`)
      return facts.createdAt
    }),
  )
  return { sources, keptAt, core: core ? `${ARCHIVE_FORMAT} ${coreVersion} ${keptAt[0]}` : null }
}

/** Returns what is known about an archive. All archives that begin with the same core share their first blocks. */
export async function knownLengths(tx: Tx, backupId: number, { sources, core }: ArchiveOf): Promise<ArchiveLengths> {
  const own = await loadLengths(tx, backupId)
  if (own.count > 0 || core === null) return own
  const other = await lengthsOfCore(tx, core)
  if (!other) return own
  return other.first(Math.floor((await treeBytes(sources.slice(0, 1))) / PIECE))
}
