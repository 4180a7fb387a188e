import type { Selectable } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import {
  type ComparedPage,
  type ImportPlan,
  type ImportState,
  type ImportUpload,
  type StoredImport,
  stagedStates,
} from './import.ts'
import type { OldSource } from './old-site/old-site-source.ts'
import type { ImportRow } from './tables.ts'

/** How many imports of a site are kept. Older ones without data are deleted. */
const MOST_KEPT = 20

export async function insertImport(
  tx: Tx,
  values: Pick<StoredImport, 'siteId' | 'state' | 'sources' | 'starts' | 'createdAt' | 'expiresAt'> &
    Partial<Pick<StoredImport, 'uploads' | 'live' | 'liveSecret'>>,
): Promise<StoredImport> {
  const row = await tx
    .insertInto('imports')
    .values({
      site_id: values.siteId,
      state: values.state,
      sources: JSON.stringify(values.sources),
      uploads: values.uploads ? JSON.stringify(values.uploads) : null,
      live_source: values.live ? JSON.stringify(values.live) : null,
      live_secret: values.liveSecret ?? null,
      starts: values.starts ? 1 : 0,
      created_at: values.createdAt,
      expires_at: values.expiresAt,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const kept = tx
    .selectFrom('imports')
    .select('id')
    .where('site_id', '=', values.siteId)
    .orderBy('id', 'desc')
    .limit(MOST_KEPT)
  await tx
    .deleteFrom('imports')
    .where('site_id', '=', values.siteId)
    .where('state', 'not in', stagedStates)
    .where('id', 'not in', kept)
    .execute()
  return storedOf(row)
}

/** Returns the imports of a site, newest first. */
export async function listImportsOf(tx: Tx, siteId: number): Promise<StoredImport[]> {
  const rows = await tx.selectFrom('imports').selectAll().where('site_id', '=', siteId).orderBy('id', 'desc').execute()
  return rows.map(storedOf)
}

export async function findImport(tx: Tx, siteId: number, id: number): Promise<StoredImport | undefined> {
  const query = tx.selectFrom('imports').selectAll().where('site_id', '=', siteId).where('id', '=', id)
  const row = await query.executeTakeFirst()
  return row && storedOf(row)
}

/** Returns the import that has data on the host, or will have. */
export async function stagedImportOf(tx: Tx, siteId: number): Promise<StoredImport | undefined> {
  const row = await tx
    .selectFrom('imports')
    .selectAll()
    .where('site_id', '=', siteId)
    .where('state', 'in', stagedStates)
    .executeTakeFirst()
  return row && storedOf(row)
}

/** Counts the imports of an account that have data on a host, or will have. */
export async function countStaged(tx: Tx, accountId: number): Promise<number> {
  const row = await tx
    .selectFrom('imports')
    .innerJoin('sites', 'sites.id', 'imports.site_id')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('sites.account_id', '=', accountId)
    .where('imports.state', 'in', stagedStates)
    .executeTakeFirstOrThrow()
  return Number(row.count)
}

interface Changes {
  readonly state?: ImportState
  readonly uploads?: readonly ImportUpload[]
  readonly live?: OldSource
  readonly plan?: ImportPlan
  readonly comparison?: readonly ComparedPage[]
  readonly error?: string | null
  readonly operationId?: number
}

export async function changeImport(tx: Tx, id: number, changes: Changes): Promise<void> {
  const { state, uploads, live, plan, comparison, error, operationId } = changes
  const values = {
    ...(state && { state }),
    // No more logins to the old site are needed.
    ...(state && !stagedStates.includes(state) && { live_secret: null }),
    ...(uploads && { uploads: JSON.stringify(uploads) }),
    ...(live && { live_source: JSON.stringify(live) }),
    ...(plan && { plan: JSON.stringify(plan) }),
    ...(comparison && { comparison: JSON.stringify(comparison) }),
    ...(error !== undefined && { error }),
    ...(operationId !== undefined && { operation_id: operationId }),
  }
  await tx.updateTable('imports').set(values).where('id', '=', id).execute()
}

export async function deleteImportRow(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('imports').where('id', '=', id).execute()
}

export async function deleteImportsOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('imports').where('site_id', '=', siteId).execute()
}

/** Returns imports whose staged data may be removed, with their sites. Excludes those with an operation in progress. */
export async function expiredImports(
  tx: Tx,
  now: number,
  limit: number,
): Promise<{ id: number; siteId: number; accountId: number; hostId: number | null }[]> {
  return tx
    .selectFrom('imports')
    .innerJoin('sites', 'sites.id', 'imports.site_id')
    .select(['imports.id', 'imports.site_id as siteId', 'sites.account_id as accountId', 'sites.host_id as hostId'])
    .where('imports.expires_at', '<', now)
    .where('imports.state', 'in', ['uploading', 'waiting', 'ready'])
    .orderBy('imports.id')
    .limit(limit)
    .execute()
}

/** Returns which of these imports still own staged data. */
export async function knownStaged(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await tx
    .selectFrom('imports')
    .select('id')
    .where('id', 'in', ids)
    .where('state', 'in', stagedStates)
    .execute()
  return new Set(rows.map(({ id }) => Number(id)))
}

const storedOf = (row: Selectable<ImportRow>): StoredImport => ({
  id: Number(row.id),
  siteId: Number(row.site_id),
  state: row.state,
  sources: JSON.parse(row.sources) as string[],
  uploads: row.uploads === null ? null : (JSON.parse(row.uploads) as ImportUpload[]),
  live: row.live_source === null ? null : (JSON.parse(row.live_source) as OldSource),
  liveSecret: row.live_secret,
  starts: row.starts === 1,
  plan: row.plan === null ? null : (JSON.parse(row.plan) as ImportPlan),
  comparison: row.comparison === null ? null : (JSON.parse(row.comparison) as ComparedPage[]),
  error: row.error,
  operationId: row.operation_id === null ? null : Number(row.operation_id),
  createdAt: Number(row.created_at),
  expiresAt: Number(row.expires_at),
})
