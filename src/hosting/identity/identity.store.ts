import { sql } from 'kysely'
import type { Database, Tx } from '../../platform/db/database.ts'
import { lastGivenId, raiseIds } from '../../platform/db/sequences.ts'
import type { DatabaseFacts, KnownHost } from './belonging.ts'
import { newIdentity } from './folder.ts'

/**
 * Reads facts from a database that any version of Stead may have used last. All tables may be missing. Changes nothing.
 */
export async function databaseFacts({ dialect, read: tx }: Pick<Database, 'dialect' | 'read'>): Promise<DatabaseFacts> {
  const tables = await tx.introspection.getTables()
  const columnsOf = (name: string) => tables.find((table) => table.name === name)?.columns.map((column) => column.name)
  const hostColumns = columnsOf('hosts')
  const installation = columnsOf('installation') ? await installationOf(tx) : undefined
  const hosts = hostColumns ? await knownHosts(tx, hostColumns.includes('identity')) : []
  return { installation: installation?.identity ?? null, hosts, isInFolder: dialect === 'sqlite' }
}

async function knownHosts(tx: Tx, haveIdentities: boolean): Promise<KnownHost[]> {
  const nothing = sql<null>`null`
  return tx
    .selectFrom('hosts')
    .select(['id', 'name', 'seen_at as seenAt'])
    .select(haveIdentities ? 'identity' : nothing.as('identity'))
    .select(haveIdentities ? 'epoch' : sql<number>`0`.as('epoch'))
    .orderBy('id')
    .$castTo<KnownHost>()
    .execute()
}

/** Returns `undefined` until a first start has given the database its identity. */
export async function installationOf(tx: Tx): Promise<{ identity: string; keyMark: string | null } | undefined> {
  return tx
    .selectFrom('installation')
    .select(['identity', 'key_mark as keyMark'])
    .where('id', '=', 1)
    .executeTakeFirst()
}

/**
 * Gives the database an identity unless it has one.
 * @param wanted the identity of a folder that already knows it
 */
export async function identifyInstallation(tx: Tx, wanted: string | undefined, now: number): Promise<void> {
  await tx
    .insertInto('installation')
    .values({ id: 1, identity: wanted ?? newIdentity(), key_mark: null, created_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

export async function giveHostIdentity(tx: Tx, hostId: number, identity: string): Promise<void> {
  await tx.updateTable('hosts').set({ identity }).where('id', '=', hostId).execute()
}

/**
 * Records the mark of the current master key, unless one is recorded.
 * @returns the recorded mark
 */
export async function claimKeyMark(tx: Tx, mark: string): Promise<string> {
  await tx
    .updateTable('installation')
    .set({ key_mark: mark })
    .where('id', '=', 1)
    .where('key_mark', 'is', null)
    .execute()
  return (await installationOf(tx))?.keyMark ?? mark
}

/** Replaces the mark, for operators who have permanently lost the old key. */
export async function replaceKeyMark(tx: Tx, mark: string): Promise<void> {
  await tx.updateTable('installation').set({ key_mark: mark }).where('id', '=', 1).execute()
}

/**
 * The number of sites that had no site directory yet when the database was restored. Set higher than there ever are.
 */
const FORGOTTEN_SITES = 1000

/**
 * Increases numbers so that none is used twice, even after the database was restored. A new site directory's number is
 * higher than any that a host has had, because it names a folder and a user. A restored database has forgotten sites
 * too, whose ids name logs and cached pages.
 * @param lastHome the highest number that a site directory of the host has ever had
 */
export async function raiseNumbers(database: Database, lastHome: number): Promise<void> {
  if ((await lastGivenId(database.read, 'site_homes')) >= lastHome) return
  await database.transaction((tx) => raiseNumbersIn(tx, lastHome))
}

/** Does the same as {@link raiseNumbers} within a transaction. */
export async function raiseNumbersIn(tx: Tx, lastHome: number): Promise<void> {
  const forgotten = lastHome - (await lastGivenId(tx, 'site_homes'))
  if (forgotten <= 0) return
  await raiseIds(tx, 'site_homes', lastHome)
  await raiseIds(tx, 'sites', (await lastGivenId(tx, 'sites')) + forgotten + FORGOTTEN_SITES)
}
