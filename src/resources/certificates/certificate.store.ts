import type { NotNull, Selectable, Updateable } from 'kysely'
import { recordNames } from '../../edge/routing/route-changes.store.ts'
import type { AcmeAccountRow, CertificateRow } from '../../edge/tables.ts'
import type { Tx } from '../../platform/db/database.ts'
import { isInProgress } from '../../platform/operations/is-in-progress.ts'
import { localEndings } from './certifiable.ts'
import { NO_SITE } from './own-names.ts'

type Changes = Updateable<Omit<CertificateRow, 'host_name'>>

/** Row as it is read. */
export type StoredCertificate = Selectable<CertificateRow>

export const findName = (tx: Tx, hostName: string): Promise<StoredCertificate | undefined> =>
  tx.selectFrom('certificates').selectAll().where('host_name', '=', hostName).executeTakeFirst()

/**
 * Adds a name. An existing one keeps its values.
 * @returns false when the site already has it
 */
export async function insertName(
  tx: Tx,
  { hostName, siteId, dueAt, now }: { hostName: string; siteId: number; dueAt: number; now: number },
): Promise<boolean> {
  const known = await findName(tx, hostName)
  if (known?.site_id === siteId) return false
  const values = { host_name: hostName, site_id: siteId, wanted_at: now, due_at: dueAt }
  await tx
    .insertInto('certificates')
    .values({ ...values, force_tls: 0, failures: 0, ...nothingYet })
    .onConflict((conflict) => conflict.column('host_name').doUpdateSet({ site_id: siteId, due_at: dueAt }))
    .execute()
  await recordNames(tx, [hostName])
  return true
}

const nothingYet = {
  ...{ not_before: null, operation_id: null, reason: null, reason_at: null, order_url: null, order_key: null },
  ...{ authz_url: null, authz_expires_at: null, challenge_token: null, challenge_answer: null },
  ...{ chain: null, private_key: null, edge_key: null, issued_at: null, expires_at: null },
}

export async function deleteName(tx: Tx, hostName: string): Promise<void> {
  await tx.deleteFrom('certificates').where('host_name', '=', hostName).execute()
  await recordNames(tx, [hostName])
}

export async function deleteNamesOfSite(tx: Tx, siteId: number): Promise<void> {
  const rows = await tx.deleteFrom('certificates').where('site_id', '=', siteId).returning('host_name').execute()
  await recordNames(
    tx,
    rows.map((row) => row.host_name),
  )
}

/** Changes columns that edges do not need. */
export async function changeName(tx: Tx, hostName: string, changes: Changes): Promise<void> {
  await tx.updateTable('certificates').set(changes).where('host_name', '=', hostName).execute()
}

/**
 * Changes columns that edges then reload.
 * @returns false when the name does not exist
 */
export async function changeServedName(tx: Tx, hostName: string, changes: Changes): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('certificates')
    .set(changes)
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  await recordNames(tx, [hostName])
  return numUpdatedRows > 0n
}

/**
 * Claims a name, so that one operation at a time handles it.
 * @returns false when another one does, or the name is no longer wanted
 */
export async function claimName(tx: Tx, hostName: string, operationId: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('certificates')
    .set({ operation_id: operationId })
    .where('host_name', '=', hostName)
    .where((each) =>
      each.or([each('operation_id', '=', operationId), each(isInProgress('certificates.operation_id'), '=', 0)]),
    )
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns domains of sites that have no entry yet, although an authority could issue a certificate. */
export async function namesWithout(tx: Tx, most: number): Promise<{ hostName: string; siteId: number }[]> {
  return tx
    .selectFrom('routes')
    .leftJoin('certificates', 'certificates.host_name', 'routes.host_name')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .select(['routes.host_name as hostName', 'routes.site_id as siteId'])
    .where('routes.is_domain', '=', 1)
    .where('certificates.host_name', 'is', null)
    .where('sites.deleted_at', 'is', null)
    .where(({ and, eb }) => and(localEndings.map((ending) => eb('routes.host_name', 'not like', `%.${ending}`))))
    .limit(most)
    .execute()
}

/** Returns first addresses of sites below a domain that have an entry, or that have none. */
export async function firstAddresses(
  tx: Tx,
  { domain, have, most }: { readonly domain: string; readonly have: 'certificates' | 'none'; readonly most: number },
): Promise<{ hostName: string; siteId: number }[]> {
  return tx
    .selectFrom('routes')
    .leftJoin('certificates', 'certificates.host_name', 'routes.host_name')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .select(['routes.host_name as hostName', 'routes.site_id as siteId'])
    .where('routes.is_domain', '=', 0)
    .where('certificates.host_name', have === 'certificates' ? 'is not' : 'is', null)
    .where('routes.host_name', 'like', `%.${domain}`)
    .where('sites.deleted_at', 'is', null)
    .orderBy('sites.id')
    .limit(most)
    .execute()
}

/** Returns how many first addresses have got an entry after a time. */
export async function countFirstAddressesSince(tx: Tx, since: number): Promise<number> {
  const { count } = await tx
    .selectFrom('certificates')
    .innerJoin('routes', 'routes.host_name', 'certificates.host_name')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('routes.is_domain', '=', 0)
    .where('certificates.wanted_at', '>', since)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns names of the installation itself that have an entry. */
export async function namesOfNoSite(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('certificates').select('host_name').where('site_id', '=', NO_SITE).execute()
  return rows.map((row) => row.host_name)
}

/** Takes names that are due, most urgent first. They are not due again before `leaseUntil`. */
export async function takeDueNames(
  tx: Tx,
  { now, most, leaseUntil }: { now: number; most: number; leaseUntil: number },
): Promise<{ hostName: string; siteId: number; accountId: number | null }[]> {
  const rows = await tx
    .selectFrom('certificates')
    .leftJoin('sites', 'sites.id', 'certificates.site_id')
    .select(['certificates.host_name', 'certificates.site_id', 'sites.account_id'])
    .where('certificates.due_at', '<=', now)
    .where('sites.deleted_at', 'is', null)
    .orderBy('certificates.due_at')
    .limit(most)
    .execute()
  for (const row of rows) await changeName(tx, row.host_name, { due_at: leaseUntil })
  return rows.map((row) => ({ hostName: row.host_name, siteId: row.site_id, accountId: row.account_id }))
}

/** Returns names with a certificate that ends before a time, those of sites in the trash excepted. */
export async function expiringNames(
  tx: Tx,
  before: number,
): Promise<{ hostName: string; siteId: number; issuedAt: number; expiresAt: number; reason: string | null }[]> {
  return tx
    .selectFrom('certificates')
    .leftJoin('sites', 'sites.id', 'certificates.site_id')
    .select(['host_name as hostName', 'site_id as siteId', 'reason'])
    .select(['issued_at as issuedAt', 'expires_at as expiresAt'])
    .where('expires_at', '<', before)
    .where('chain', 'is not', null)
    .where('sites.deleted_at', 'is', null)
    .orderBy('host_name')
    .$narrowType<{ issuedAt: NotNull; expiresAt: NotNull }>()
    .execute()
}

export async function accountOfSite(tx: Tx, siteId: number): Promise<number | undefined> {
  const row = await tx.selectFrom('sites').select('account_id').where('id', '=', siteId).executeTakeFirst()
  return row?.account_id
}

export async function isServed(tx: Tx, hostName: string): Promise<boolean> {
  const row = await tx.selectFrom('routes').select('site_id').where('host_name', '=', hostName).executeTakeFirst()
  return row !== undefined
}

/** Returns the account whose site has a domain, or `undefined` for first addresses and names without a site. */
export async function ownerOfDomain(tx: Tx, hostName: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .select('sites.account_id')
    .where('host_name', '=', hostName)
    .where('is_domain', '=', 1)
    .executeTakeFirst()
  return row?.account_id
}

export const findAcmeAccount = (tx: Tx, directory: string): Promise<AcmeAccountRow | undefined> =>
  tx.selectFrom('acme_accounts').selectAll().where('directory', '=', directory).executeTakeFirst()

/**
 * Adds an account. If there already is one, it keeps its key.
 * @param privateKey sealed
 */
export async function insertAcmeAccount(
  tx: Tx,
  { directory, privateKey, now }: { directory: string; privateKey: string; now: number },
): Promise<AcmeAccountRow> {
  await tx
    .insertInto('acme_accounts')
    .values({ directory, private_key: privateKey, url: null, created_at: now })
    .onConflict((conflict) => conflict.column('directory').doNothing())
    .execute()
  return (await findAcmeAccount(tx, directory)) as AcmeAccountRow
}

export async function setAcmeAccountUrl(tx: Tx, directory: string, url: string | null): Promise<void> {
  await tx.updateTable('acme_accounts').set({ url }).where('directory', '=', directory).execute()
}
