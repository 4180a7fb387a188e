import { sql } from 'kysely'
import { announce, type Tx } from '../../platform/db/database.ts'
import { precompiledChange } from '../../platform/db/precompiled.ts'
import { nextId } from '../../platform/db/sequences.ts'

/** An account's access to a site's files. */
export interface SftpUser {
  readonly id: number
  readonly siteId: number
  readonly siteName: string
  readonly accountId: number
  /** The owner of the site. */
  readonly ownerAccountId: number
  readonly email: string
  readonly username: string
  readonly createdAt: number
  /** When its password or its keys were last changed. */
  readonly modifiedAt: number
  /** When it logged in last. */
  readonly accessedAt: number | null
}

export interface SftpKey {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly fingerprint: string
  readonly createdAt: number
}

const users = (tx: Tx) =>
  tx
    .selectFrom('sftp_users')
    .innerJoin('sites', 'sites.id', 'sftp_users.site_id')
    .innerJoin('accounts', 'accounts.id', 'sftp_users.account_id')
    .select([
      'sftp_users.id',
      'sftp_users.site_id as siteId',
      'sites.name as siteName',
      'sftp_users.account_id as accountId',
      'sites.account_id as ownerAccountId',
      'accounts.email',
      'sftp_users.username',
      'sftp_users.created_at as createdAt',
      'sftp_users.modified_at as modifiedAt',
      'sftp_users.accessed_at as accessedAt',
    ])

/** In order of ID. */
export async function listSftpUsers(tx: Tx, siteId: number): Promise<SftpUser[]> {
  return users(tx).where('sftp_users.site_id', '=', siteId).orderBy('sftp_users.id').execute()
}

export async function findSftpUser(tx: Tx, siteId: number, username: string): Promise<SftpUser | undefined> {
  return users(tx)
    .where('sftp_users.username', '=', username)
    .where('sftp_users.site_id', '=', siteId)
    .executeTakeFirst()
}

/** Grants access. An existing user stays as it is. */
export async function insertSftpUser(
  tx: Tx,
  { site, accountId, now }: { site: { id: number; name: string }; accountId: number; now: number },
): Promise<void> {
  await insertUser(tx, { siteId: site.id, siteName: site.name, accountId, now })
}

/** The number makes the name unique, so the only possible conflict is the same user. */
const insertUser = precompiledChange((tx, user: { siteId: number; siteName: string; accountId: number; now: number }) =>
  tx
    .insertInto('sftp_users')
    .columns(['id', 'site_id', 'account_id', 'username', 'created_at', 'modified_at'])
    .expression(
      tx
        .selectFrom(sql<{ id: number }>`(select ${nextId(tx, 'sftp_users')} as id)`.as('given'))
        .select([
          'given.id',
          sql<number>`cast(${user.siteId} as bigint)`.as('site_id'),
          sql<number>`cast(${user.accountId} as bigint)`.as('account_id'),
          sql<string>`cast(${user.siteName} as text) || '_' || given.id`.as('username'),
          sql<number>`cast(${user.now} as bigint)`.as('created_at'),
          sql<number>`cast(${user.now} as bigint)`.as('modified_at'),
        ])
        // Without a condition, SQLite parses what follows as that of a join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) => conflict.columns(['site_id', 'account_id']).doNothing()),
)

/**
 * Removes an account's user, and what the account set up for other users of the site: a lost permission must not live
 * on there.
 */
export async function deleteSftpUser(tx: Tx, siteId: number, accountId: number): Promise<void> {
  const own = tx.selectFrom('sftp_users').select('id').where('site_id', '=', siteId).where('account_id', '=', accountId)
  await tx
    .updateTable('sftp_users')
    .set(({ eb }) => ({ epoch: eb('epoch', '+', 1) }))
    .where('site_id', '=', siteId)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('password_by', '=', accountId),
        exists(
          selectFrom('sftp_keys')
            .select('sftp_keys.id')
            .whereRef('sftp_keys.user_id', '=', 'sftp_users.id')
            .where('sftp_keys.added_by', '=', accountId),
        ),
      ]),
    )
    .execute()
  await tx
    .updateTable('sftp_users')
    .set({ password_hash: null, password_by: null })
    .where('site_id', '=', siteId)
    .where('password_by', '=', accountId)
    .execute()
  await tx
    .deleteFrom('sftp_keys')
    .where('site_id', '=', siteId)
    .where(({ or, eb }) => or([eb('added_by', '=', accountId), eb('user_id', 'in', own)]))
    .execute()
  await tx.deleteFrom('sftp_users').where('site_id', '=', siteId).where('account_id', '=', accountId).execute()
  await announce(tx, 'sftp')
}

export async function deleteSftpUsersOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('sftp_keys').where('site_id', '=', siteId).execute()
  await tx.deleteFrom('sftp_users').where('site_id', '=', siteId).execute()
  await announce(tx, 'sftp')
}

/** Ends the connections of the user. */
export async function setSftpPassword(
  tx: Tx,
  userId: number,
  { hash, by, now }: { hash: string; by: number; now: number },
): Promise<void> {
  await tx
    .updateTable('sftp_users')
    .set(({ eb }) => ({ password_hash: hash, password_by: by, modified_at: now, epoch: eb('epoch', '+', 1) }))
    .where('id', '=', userId)
    .execute()
  await announce(tx, 'sftp')
}

const keyColumns = ['id', 'name', 'type', 'fingerprint', 'created_at as createdAt'] as const

/** In order of ID. */
export async function listSftpKeys(tx: Tx, userId: number): Promise<SftpKey[]> {
  return tx.selectFrom('sftp_keys').select(keyColumns).where('user_id', '=', userId).orderBy('id').execute()
}

export async function insertSftpKey(
  tx: Tx,
  user: Pick<SftpUser, 'id' | 'siteId'>,
  key: { name: string; type: string; fingerprint: string; publicKey: string; by: number; now: number },
): Promise<SftpKey> {
  await tx.updateTable('sftp_users').set({ modified_at: key.now }).where('id', '=', user.id).execute()
  return tx
    .insertInto('sftp_keys')
    .values({
      site_id: user.siteId,
      user_id: user.id,
      added_by: key.by,
      name: key.name,
      type: key.type,
      fingerprint: key.fingerprint,
      public_key: key.publicKey,
      created_at: key.now,
    })
    .returning(keyColumns)
    .executeTakeFirstOrThrow()
}

/**
 * Ends the connections of the user.
 * @returns the key, or `undefined` when the user has none with this ID
 */
export async function deleteSftpKey(tx: Tx, userId: number, id: number, now: number): Promise<SftpKey | undefined> {
  const key = await tx
    .deleteFrom('sftp_keys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(keyColumns)
    .executeTakeFirst()
  if (!key) return undefined
  await tx
    .updateTable('sftp_users')
    .set(({ eb }) => ({ modified_at: now, epoch: eb('epoch', '+', 1) }))
    .where('id', '=', userId)
    .execute()
  await announce(tx, 'sftp')
  return key
}

/** Takes away what an account has on any site: its users, and the passwords and keys that it gave to other users. */
export async function deleteSftpOfAccount(tx: Tx, accountId: number): Promise<void> {
  const users = await tx
    .selectFrom('sftp_users')
    .select('site_id')
    .where(({ or, eb }) => or([eb('account_id', '=', accountId), eb('password_by', '=', accountId)]))
    .execute()
  const keys = await tx.selectFrom('sftp_keys').select('site_id').where('added_by', '=', accountId).execute()
  for (const siteId of new Set([...users, ...keys].map(({ site_id }) => site_id)))
    await deleteSftpUser(tx, siteId, accountId)
}
