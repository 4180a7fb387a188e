import type { Selectable } from 'kysely'
import { announce, type Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import { noteAccount } from '../search/public.ts'
import type { AccountRow, ApplicationRow } from './tables.ts'

/** Account, as the rest of Stead sees it. */
export interface Account {
  readonly id: number
  readonly email: string
  readonly name: string
  readonly organization: string
  readonly phoneNumber: string
  readonly plan: string
  readonly defaultPhpVersion: string
  readonly defaultDatacenter: string | null
  readonly createdAt: number
  readonly isAffiliate: boolean
  readonly isPreview: boolean
  /** Whether links may log people in to WordPress on its sites. */
  readonly hasOneTimeLogin: boolean
  /** Whether its sites get security releases of WordPress automatically. */
  readonly hasAutomaticUpdates: boolean
  /** When the operator suspended it, or null if it is not suspended. */
  readonly suspendedAt: number | null
}

const account = (row: Selectable<AccountRow>): Account => ({
  id: row.id,
  email: row.email,
  name: row.name,
  organization: row.organization,
  phoneNumber: row.phone_number,
  plan: row.plan,
  defaultPhpVersion: row.default_php_version,
  defaultDatacenter: row.default_datacenter,
  createdAt: row.created_at,
  isAffiliate: row.affiliate === 1,
  isPreview: row.preview === 1,
  hasOneTimeLogin: row.one_time_login === 1,
  hasAutomaticUpdates: row.automatic_updates === 1,
  suspendedAt: row.suspended_at,
})

export async function findAccount(tx: Tx, id: number): Promise<Account | undefined> {
  const [row] = await accountRow(tx, { id })
  return row && account(row)
}

const accountRow = precompiled((tx, { id }: { id: number }) =>
  tx.selectFrom('accounts').selectAll().where('id', '=', id),
)

export async function findAccountByEmail(tx: Tx, email: string): Promise<Account | undefined> {
  const row = await tx.selectFrom('accounts').selectAll().where('email', '=', email).executeTakeFirst()
  return row && account(row)
}

/** Returns all accounts, in order of id. */
export async function listAccounts(tx: Tx): Promise<Account[]> {
  return (await tx.selectFrom('accounts').selectAll().orderBy('id').execute()).map(account)
}

export async function insertAccount(
  tx: Tx,
  values: { email: string; name: string; plan: string; defaultPhpVersion: string; now: number },
): Promise<Account> {
  return account(await tx.insertInto('accounts').values(newAccount(values)).returningAll().executeTakeFirstOrThrow())
}

const newAccount = (values: Parameters<typeof insertAccount>[1]) => ({
  email: values.email,
  name: values.name,
  organization: '',
  phone_number: '',
  plan: values.plan,
  default_php_version: values.defaultPhpVersion,
  default_datacenter: null,
  created_at: values.now,
})

/**
 * Does what {@link insertAccount} does.
 * @returns `undefined` when the address already has an account, maybe since this very moment
 */
export async function insertAccountIfNew(
  tx: Tx,
  values: Parameters<typeof insertAccount>[1],
): Promise<Account | undefined> {
  const row = await tx
    .insertInto('accounts')
    .values(newAccount(values))
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returningAll()
    .executeTakeFirst()
  return row && account(row)
}

/** What an operator can set for an account. Absent fields stay. */
export interface AccountFacts {
  readonly name?: string | undefined
  readonly organization?: string | undefined
  readonly phoneNumber?: string | undefined
  readonly isAffiliate?: boolean | undefined
  readonly isPreview?: boolean | undefined
  readonly hasOneTimeLogin?: boolean | undefined
  readonly hasAutomaticUpdates?: boolean | undefined
}

/** Sets facts of an account. Requires at least one field. */
export async function setFacts(tx: Tx, id: number, facts: AccountFacts): Promise<void> {
  const flag = (value: boolean | undefined) => (value === undefined ? undefined : value ? (1 as const) : (0 as const))
  const given = {
    name: facts.name,
    organization: facts.organization,
    phone_number: facts.phoneNumber,
    affiliate: flag(facts.isAffiliate),
    preview: flag(facts.isPreview),
    one_time_login: flag(facts.hasOneTimeLogin),
    automatic_updates: flag(facts.hasAutomaticUpdates),
  }
  await tx.updateTable('accounts').set(given).where('id', '=', id).execute()
  if (facts.name !== undefined) await noteAccount(tx, id)
}

/** @returns false when the account does not exist */
export async function setPlan(tx: Tx, id: number, plan: string): Promise<boolean> {
  const result = await tx.updateTable('accounts').set({ plan }).where('id', '=', id).executeTakeFirstOrThrow()
  return result.numUpdatedRows > 0n
}

/**
 * Suspends an account, or resumes it. Credentials, sessions and sites follow at once.
 * @param at null resumes it
 */
export async function setSuspended(tx: Tx, id: number, at: number | null): Promise<void> {
  await tx.updateTable('accounts').set({ suspended_at: at }).where('id', '=', id).execute()
  await announce(tx, 'tokens')
}

/** Returns which of these accounts are suspended. */
export async function suspendedAmong(tx: Tx, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await tx
    .selectFrom('accounts')
    .select('id')
    .where('id', 'in', [...new Set(ids)])
    .where('suspended_at', 'is not', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Sets the defaults for new sites of an account. */
export async function setDefaults(
  tx: Tx,
  id: number,
  values: { defaultPhpVersion: string; defaultDatacenter: string | null },
): Promise<void> {
  await tx
    .updateTable('accounts')
    .set({ default_php_version: values.defaultPhpVersion, default_datacenter: values.defaultDatacenter })
    .where('id', '=', id)
    .execute()
}

/** API application, without its secret. */
export interface Application {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly clientId: string
  readonly isOwner: boolean
  readonly createdAt: number
  readonly revokedAt: number | null
}

const application = (row: Selectable<ApplicationRow>): Application => ({
  id: row.id,
  accountId: row.account_id,
  name: row.name,
  clientId: row.client_id,
  isOwner: row.is_owner === 1,
  createdAt: row.created_at,
  revokedAt: row.revoked_at,
})

export async function insertApplication(
  tx: Tx,
  values: { accountId: number; name: string; clientId: string; secretHash: string; isOwner: boolean; now: number },
): Promise<Application> {
  const row = await tx
    .insertInto('applications')
    .values({
      account_id: values.accountId,
      name: values.name,
      client_id: values.clientId,
      secret_hash: values.secretHash,
      is_owner: values.isOwner ? 1 : 0,
      created_at: values.now,
      revoked_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return application(row)
}

/**
 * Returns applications, in order of id.
 * @param accountId limits the result to this account
 */
export async function allApplications(tx: Tx, accountId?: number): Promise<Application[]> {
  const query = tx.selectFrom('applications').selectAll().orderBy('id')
  return (await (accountId ? query.where('account_id', '=', accountId) : query).execute()).map(application)
}

/** Returns the applications that have not been revoked, without that of the control panel, in order of id. */
export async function listLiveApplications(tx: Tx, accountId: number): Promise<Application[]> {
  const rows = await tx
    .selectFrom('applications')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .where('client_id', '!=', panelClientId(accountId))
    .orderBy('id')
    .execute()
  return rows.map(application)
}

const panelClientId = (accountId: number): string => `panel-${accountId}`

/**
 * Ensures the application for an account's sessions in the control panel. Nobody knows its secret. Reactivates one that
 * was revoked, which has ended all sessions.
 * @returns its id
 */
export async function ensurePanelApplicationRow(
  tx: Tx,
  { accountId, secretHash, now }: { accountId: number; secretHash: string; now: number },
): Promise<number> {
  const { id } = await tx
    .insertInto('applications')
    .values({
      account_id: accountId,
      name: 'Control panel',
      client_id: panelClientId(accountId),
      secret_hash: secretHash,
      is_owner: 1,
      created_at: now,
      revoked_at: null,
    })
    .onConflict((conflict) => conflict.column('client_id').doUpdateSet({ revoked_at: null }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/**
 * Ends an application and its tokens.
 * @returns false when the application does not exist or has already ended
 */
export async function endApplication(tx: Tx, clientId: string, now: number): Promise<boolean> {
  const result = await tx
    .updateTable('applications')
    .set({ revoked_at: now })
    .where('client_id', '=', clientId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  await announce(tx, 'tokens')
  return result.numUpdatedRows > 0n
}

/** Counts the accounts that collaborate on the sites of an account, each once. Ignores sites in the trash. */
export async function countCollaboratorAccounts(tx: Tx, ownerAccountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('collaborators')
    .innerJoin('sites', 'sites.id', 'collaborators.site_id')
    .select(({ fn }) => fn.count<number>('collaborators.account_id').distinct().as('count'))
    .where('collaborators.owner_account_id', '=', ownerAccountId)
    .where('sites.deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Returns whether an account is the one that created the installation, and operates it. */
export const isOperator = async (tx: Tx, accountId: number): Promise<boolean> =>
  (await firstAccount(tx))?.id === accountId

/** Returns the account of the first start, which created the installation. */
export async function firstAccount(tx: Tx): Promise<{ id: number; email: string } | undefined> {
  return tx.selectFrom('accounts').select(['id', 'email']).orderBy('id').limit(1).executeTakeFirst()
}
