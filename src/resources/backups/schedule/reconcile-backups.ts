import type { BackupFacts } from '../../../backups/backup-store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { NEWEST_KEPT_MS, nameInRepository } from '../backup.ts'

/** Returns the number of a backup of a site, from its name in the storage. */
export function backupNumber(name: string): number | undefined {
  const digits = /^b([1-9]\d{0,14})(?:-[0-9a-f]{16})?$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

interface OfSite {
  readonly siteId: number
  /** Taken from the site's record, because the version of an unknown backup was only in its own record. */
  readonly coreVersion: string | null
  readonly now: number
}

/**
 * Matches the records of a site's backups to the storage, when the control database is older than the storage. Removes
 * records without content, and adds missing records as scheduled backups.
 * @returns backups that were not added because another backup has their number, which was reused. See {@link
 * enterUnderNewId}.
 */
export async function reconcileBackups(
  tx: Tx,
  { stored, ...site }: OfSite & { readonly stored: readonly BackupFacts[] },
): Promise<BackupFacts[]> {
  const known = await tx
    .selectFrom('backups')
    .select(['id', 'name', 'state'])
    .where('site_id', '=', site.siteId)
    .execute()
  const there = new Set(stored.map(({ name }) => name))
  for (const row of known)
    if (row.state === 'completed' && !there.has(nameInRepository(row)))
      await tx.deleteFrom('backups').where('id', '=', row.id).execute()
  const names = new Set(known.map(nameInRepository))
  const clashing: BackupFacts[] = []
  for (const facts of stored) {
    const id = backupNumber(facts.name)
    if (id === undefined || names.has(facts.name)) continue
    const taken = await tx.selectFrom('backups').select('id').where('id', '=', id).executeTakeFirst()
    if (taken) clashing.push(facts)
    else
      await tx
        .insertInto('backups')
        .values({ ...rowOf(site, facts), id })
        .execute()
  }
  return clashing
}

/** Adds a backup whose number is taken. First, raise the sequence above all numbers in the storage. */
export async function enterUnderNewId(tx: Tx, site: OfSite, facts: BackupFacts): Promise<void> {
  await tx.insertInto('backups').values(rowOf(site, facts)).execute()
}

const rowOf = ({ siteId, coreVersion, now }: OfSite, { name, kind, sizeBytes, createdAt }: BackupFacts) => ({
  site_id: siteId,
  kind: kind === 'tree' ? ('fs' as const) : ('db' as const),
  origin: 'scheduled' as const,
  state: 'completed' as const,
  requested_at: createdAt,
  taken_at: createdAt,
  completed_at: createdAt,
  delete_at: now + NEWEST_KEPT_MS,
  bytes: sizeBytes,
  core_version: kind === 'tree' ? coreVersion : null,
  created_by: null,
  operation_id: null,
  error: null,
  name,
})
