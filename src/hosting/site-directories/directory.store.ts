import type { Tx } from '../../platform/db/database.ts'
import type { DatabaseKind } from '../site-database/database-kind.ts'

/** A site directory as the database knows it; its folder is the host's. */
export interface SiteDirectoryRecord {
  readonly id: number
  readonly coreVersion: string
  readonly install: string
  readonly database: DatabaseKind
  readonly siteId: number | null
  readonly state: 'making' | 'prepared' | 'taken' | 'leaving'
}

interface Kind {
  readonly coreVersion: string
  readonly install: string
  /** Default: SQLite. */
  readonly database?: DatabaseKind
}

const columns = ['id', 'core_version as coreVersion', 'install', 'database', 'site_id as siteId', 'state'] as const

/** Gives out a number for a new site directory. */
export async function insertDirectory(
  tx: Tx,
  values: Kind & { hostId: number; siteId: number | null; now: number },
): Promise<SiteDirectoryRecord> {
  return tx
    .insertInto('site_homes')
    .values({
      host_id: values.hostId,
      state: 'making',
      core_version: values.coreVersion,
      install: values.install,
      database: values.database ?? 'sqlite',
      site_id: values.siteId,
      created_at: values.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function directoryOfSite(tx: Tx, siteId: number): Promise<SiteDirectoryRecord | undefined> {
  return tx.selectFrom('site_homes').select(columns).where('site_id', '=', siteId).executeTakeFirst()
}

/** Prepared site directories of a kind that no site has, oldest first. */
export async function freeDirectories(tx: Tx, hostId: number, kind: Kind): Promise<SiteDirectoryRecord[]> {
  return tx
    .selectFrom('site_homes')
    .select(columns)
    .where('host_id', '=', hostId)
    .where('state', '=', 'prepared')
    .where('site_id', 'is', null)
    .where('core_version', '=', kind.coreVersion)
    .where('install', '=', kind.install)
    .where('database', '=', kind.database ?? 'sqlite')
    .orderBy('id')
    .execute()
}

/** Every site directory of a host with the name of its site: what a start compares with the disk. */
export async function allDirectories(
  tx: Tx,
  hostId: number,
): Promise<(SiteDirectoryRecord & { readonly siteName: string | null })[]> {
  return tx
    .selectFrom('site_homes')
    .leftJoin('sites', 'sites.id', 'site_homes.site_id')
    .select([
      'site_homes.id',
      'site_homes.core_version as coreVersion',
      'site_homes.install',
      'site_homes.database',
      'site_homes.site_id as siteId',
      'site_homes.state',
      'sites.name as siteName',
    ])
    .where('site_homes.host_id', '=', hostId)
    .orderBy('site_homes.id')
    .execute()
}

export async function nameOfSite(tx: Tx, siteId: number | null): Promise<string | null> {
  if (siteId === null) return null
  const row = await tx.selectFrom('sites').select('name').where('id', '=', siteId).executeTakeFirst()
  return row?.name ?? null
}

/** Site directories that no site has, whatever their state. */
export async function directoriesWithoutSite(tx: Tx, hostId: number): Promise<SiteDirectoryRecord[]> {
  return tx
    .selectFrom('site_homes')
    .select(columns)
    .where('host_id', '=', hostId)
    .where('site_id', 'is', null)
    .orderBy('id')
    .execute()
}

export async function setDirectory(tx: Tx, id: number, change: { state: SiteDirectoryRecord['state'] }): Promise<void> {
  await tx.updateTable('site_homes').set(change).where('id', '=', id).execute()
}

/** What the database of a site directory is from now on. */
export async function setDatabaseOfDirectory(tx: Tx, id: number, database: DatabaseKind): Promise<void> {
  await tx.updateTable('site_homes').set({ database }).where('id', '=', id).execute()
}

/** Which release is laid over its web root. */
export async function setCoreOfDirectory(tx: Tx, id: number, coreVersion: string): Promise<void> {
  await tx.updateTable('site_homes').set({ core_version: coreVersion }).where('id', '=', id).execute()
}

/** Gives a prepared site directory to a site. @returns whether it was free until then: another site may be first */
export async function giveDirectory(tx: Tx, id: number, siteId: number): Promise<boolean> {
  const given = await tx
    .updateTable('site_homes')
    .set({ state: 'taken', site_id: siteId })
    .where('id', '=', id)
    .where('state', '=', 'prepared')
    .where('site_id', 'is', null)
    .returning('id')
    .execute()
  return given.length > 0
}

/** A site directory that no site has is nobody's any more. @returns whether no site had it until then */
export async function withdrawDirectory(tx: Tx, id: number): Promise<boolean> {
  const withdrawn = await tx
    .updateTable('site_homes')
    .set({ state: 'leaving' })
    .where('id', '=', id)
    .where('site_id', 'is', null)
    .returning('id')
    .execute()
  return withdrawn.length > 0
}

/** After the folder is gone. */
export async function deleteDirectory(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('site_homes').where('id', '=', id).execute()
}

/** Forgets the directory of a site, whose host is gone. */
export async function forgetDirectoryOf(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('site_homes').where('site_id', '=', siteId).execute()
}

/**
 * Gives a site a directory of another host, under a new number: it does not exist there yet. The record of the old one goes, so that
 * its host quarantines the folder when it starts again.
 */
export async function moveDirectory(
  tx: Tx,
  siteId: number,
  { hostId, now }: { readonly hostId: number; readonly now: number },
): Promise<void> {
  const old = await directoryOfSite(tx, siteId)
  if (!old) return
  await deleteDirectory(tx, old.id)
  const { id } = await insertDirectory(tx, { ...old, hostId, siteId, now })
  await setDirectory(tx, id, { state: 'taken' })
}
