import type { Tx } from '../../platform/db/database.ts'
import { type DatabaseKind, embeddedKind } from '../site-database/database-kind.ts'

/**
 * State of a site directory.
 * making    being created
 * prepared  no site has it yet
 * taken     a site has it
 * leaving   being removed
 * apart     a copy of a site that is served elsewhere: it arrives here, or was left here. Its operation gives it to the
 *           site, or removes it
 */
export type DirectoryState = 'making' | 'prepared' | 'taken' | 'leaving' | 'apart'

/** A site directory in the control database. Its folder is on the host. */
export interface SiteDirectoryRecord {
  readonly id: number
  readonly coreVersion: string
  readonly install: string
  readonly database: DatabaseKind
  readonly siteId: number | null
  readonly state: DirectoryState
}

interface Kind {
  readonly coreVersion: string
  readonly install: string
  /** Default: SQLite. */
  readonly database?: DatabaseKind
}

const columns = ['id', 'core_version as coreVersion', 'install', 'database', 'site_id as siteId', 'state'] as const

/** Allocates a number for a new site directory. */
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
      database: values.database ?? embeddedKind,
      site_id: values.siteId,
      created_at: values.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export async function directoryOfSite(tx: Tx, siteId: number): Promise<SiteDirectoryRecord | undefined> {
  return tx.selectFrom('site_homes').select(columns).where('site_id', '=', siteId).executeTakeFirst()
}

/** Returns whether a host has the directory of a site, in whatever state. */
export async function isDirectoryOn(
  tx: Tx,
  { siteId, hostId }: { readonly siteId: number; readonly hostId: number },
): Promise<boolean> {
  const found = await tx
    .selectFrom('site_homes')
    .select('id')
    .where('site_id', '=', siteId)
    .where('host_id', '=', hostId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Returns the prepared site directories of a kind that no site has, oldest first. */
export async function freeDirectories(tx: Tx, hostId: number, kind: Kind): Promise<SiteDirectoryRecord[]> {
  return tx
    .selectFrom('site_homes')
    .select(columns)
    .where('host_id', '=', hostId)
    .where('state', '=', 'prepared')
    .where('site_id', 'is', null)
    .where('core_version', '=', kind.coreVersion)
    .where('install', '=', kind.install)
    .where('database', '=', kind.database ?? embeddedKind)
    .orderBy('id')
    .execute()
}

/** Returns every site directory of a host with the name of its site, for comparison with the disk at a start. */
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

/** Returns the site directories without a site that are not the copy of one. */
export async function directoriesWithoutSite(tx: Tx, hostId: number): Promise<SiteDirectoryRecord[]> {
  return tx
    .selectFrom('site_homes')
    .select(columns)
    .where('host_id', '=', hostId)
    .where('site_id', 'is', null)
    .where('state', '!=', 'apart')
    .orderBy('id')
    .execute()
}

export async function setDirectory(tx: Tx, id: number, change: { state: SiteDirectoryRecord['state'] }): Promise<void> {
  await tx.updateTable('site_homes').set(change).where('id', '=', id).execute()
}

/** Records a new kind of database for a site directory. */
export async function setDatabaseOfDirectory(tx: Tx, id: number, database: DatabaseKind): Promise<void> {
  await tx.updateTable('site_homes').set({ database }).where('id', '=', id).execute()
}

/** Records which core release the site directory uses. */
export async function setCoreOfDirectory(tx: Tx, id: number, coreVersion: string): Promise<void> {
  await tx.updateTable('site_homes').set({ core_version: coreVersion }).where('id', '=', id).execute()
}

/** Gives a prepared site directory to a site. @returns whether it was still free, because another site may be first */
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

/** Retires a site directory that no site has. @returns whether it had no site until then */
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

/** Deletes the record after the folder is gone. */
export async function deleteDirectory(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('site_homes').where('id', '=', id).execute()
}

/** Deletes the record of a site's directory after its host is gone. */
export async function forgetDirectoryOf(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('site_homes').where('site_id', '=', siteId).execute()
}

/**
 * Gives a site a directory on another host, under a new number. It does not exist there yet. Deletes the old record, so
 * that the old host quarantines the folder when it starts again.
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

/**
 * Allocates a number for a copy of a site's directory on another host. Nothing exists there yet.
 * @throws Error for a site without a directory
 */
export async function insertCopy(
  tx: Tx,
  siteId: number,
  { hostId, now }: { readonly hostId: number; readonly now: number },
): Promise<SiteDirectoryRecord> {
  const own = await directoryOfSite(tx, siteId)
  if (!own) throw new Error('The site has no site directory')
  const copy = await insertDirectory(tx, { ...own, hostId, siteId: null, now })
  await setDirectory(tx, copy.id, { state: 'apart' })
  return { ...copy, state: 'apart' }
}

/** Returns a copy of a site that is served elsewhere, or `undefined` if the number is not that of a copy. */
export async function findCopy(
  tx: Tx,
  id: number,
): Promise<(SiteDirectoryRecord & { readonly hostId: number }) | undefined> {
  return tx
    .selectFrom('site_homes')
    .select([...columns, 'host_id as hostId'])
    .where('id', '=', id)
    .where('state', '=', 'apart')
    .where('site_id', 'is', null)
    .executeTakeFirst()
}

/**
 * Gives a site its copy, and makes the directory that it had a copy.
 * @returns the number of that directory, or `undefined` if the copy or the directory is gone, and nothing changes
 */
export async function exchangeForCopy(tx: Tx, siteId: number, copyId: number): Promise<number | undefined> {
  const [own, copy] = [await directoryOfSite(tx, siteId), await findCopy(tx, copyId)]
  if (!own || !copy) return undefined
  const set = (id: number, values: { state: DirectoryState; site_id: number | null }) =>
    tx.updateTable('site_homes').set(values).where('id', '=', id).execute()
  // First, because a site has one directory.
  await set(own.id, { state: 'apart', site_id: null })
  await set(copy.id, { state: 'taken', site_id: siteId })
  return own.id
}

/** Deletes the records of copies on a host that is gone. If it returns, it quarantines their folders. */
export async function forgetCopies(tx: Tx, hostId: number): Promise<void> {
  await tx
    .deleteFrom('site_homes')
    .where('host_id', '=', hostId)
    .where('state', '=', 'apart')
    .where('site_id', 'is', null)
    .execute()
}
