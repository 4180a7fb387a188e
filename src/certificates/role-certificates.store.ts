import type { KeyObject } from 'node:crypto'
import type { Sealer } from '../platform/crypto/seal.ts'
import { announce, type Database, type Tx } from '../platform/db/database.ts'
import { revokeLogin } from '../platform/db/logins/logins.store.ts'
import { HOUR_MS } from '../platform/durations.ts'
import type { RoleName } from '../platform/mtls/role-name.ts'
import type { KnownRoles } from '../platform/mtls/role-trust.ts'
import { issueForRole, makeRoleAuthority, ROLE_CERTIFICATE_MS } from './role-authority.ts'
import type { RoleAuthorityRow } from './tables.ts'

/** The purpose under which keys of authorities are sealed. */
const PURPOSE = 'role authority key'
/** By then every process has read the new authority, and trusts its certificates. */
const TRUSTED_FIRST_MS = HOUR_MS

export interface RoleAuthorityOptions {
  readonly database: Database
  readonly sealer: Sealer
  /** Milliseconds UTC. */
  readonly now: number
}

/** Authorities cannot change again before the last change is complete. */
export class AlreadyChanging extends Error {
  override readonly name = 'AlreadyChanging'
}

/** The operator has taken this host out of the installation. */
export class RoleRevoked extends Error {
  override readonly name = 'RoleRevoked'
}

/** An authority of the installation, as its operator sees it. Times are milliseconds UTC. */
export interface ListedAuthority {
  readonly number: number
  readonly certificate: string
  readonly signsAt: number
  readonly expiresAt: number
  /** Whether new certificates come from it. */
  readonly isSigning: boolean
}

/** Returns the authorities that are trusted, newest first. */
export async function trustedAuthorities(tx: Tx, now: number): Promise<ListedAuthority[]> {
  const rows = await tx
    .selectFrom('role_authorities')
    .select(['number', 'certificate', 'signs_at', 'expires_at'])
    .orderBy('number', 'desc')
    .execute()
  const signing = rows.find(({ signs_at }) => signs_at <= now)
  // When an authority stops signing, its last certificates are valid for this much longer.
  return rows
    .filter(({ number, expires_at }) => {
      const next = rows.findLast((each) => each.number > number)
      return expires_at > now && (!next || next.signs_at + ROLE_CERTIFICATE_MS > now)
    })
    .map((row) => ({
      number: row.number,
      certificate: row.certificate,
      signsAt: row.signs_at,
      expiresAt: row.expires_at,
      isSigning: row.number === signing?.number,
    }))
}

/** Returns what a process needs to judge others. */
export async function knownRoles(tx: Tx, now: number): Promise<KnownRoles> {
  const authorities = await trustedAuthorities(tx, now)
  const revoked = await tx
    .selectFrom('role_certificates')
    .select('serial')
    .where('revoked_at', 'is not', null)
    .where('expires_at', '>', now)
    .orderBy('serial')
    .execute()
  return {
    authorities: authorities.map(({ certificate }) => certificate),
    revoked: revoked.map(({ serial }) => serial),
  }
}

/**
 * Returns the authority that signs. The first caller creates it. A new one follows when it is about to expire, or when
 * its key was sealed under a master key that is lost.
 */
export async function signingAuthority({ database, sealer, now }: RoleAuthorityOptions) {
  for (;;) {
    const newest = await newestAuthority(database.read, now)
    const opened = newest && open(newest, sealer, now)
    if (opened) return opened
    await addAuthority({ database, sealer, now }, { after: await lastNumber(database.read), signsAt: now })
  }
}

/**
 * Begins a change to a new authority. Both are trusted until the last certificate of the old one has expired.
 * @throws AlreadyChanging
 */
export async function changeAuthority({ database, sealer, now }: RoleAuthorityOptions): Promise<void> {
  await signingAuthority({ database, sealer, now })
  const after = await lastNumber(database.read)
  const trusted = await trustedAuthorities(database.read, now)
  if (trusted.length > 1) throw new AlreadyChanging()
  await addAuthority({ database, sealer, now }, { after, signsAt: now + TRUSTED_FIRST_MS })
}

/** If another process adds the same number at the same time, one of them stays. */
async function addAuthority(
  { database, sealer, now }: RoleAuthorityOptions,
  { after, signsAt }: { readonly after: number; readonly signsAt: number },
): Promise<void> {
  const { certificate, key, expiresAt } = await makeRoleAuthority(now)
  const row = { certificate, private_key: sealer.seal(key, PURPOSE), signs_at: signsAt, expires_at: expiresAt }
  await database.transaction(async (tx) => {
    await tx
      .insertInto('role_authorities')
      .values({ number: after + 1, ...row })
      .onConflict((conflict) => conflict.column('number').doNothing())
      .execute()
    await announce(tx, 'certificates')
  })
}

const newestAuthority = (tx: Tx, now: number): Promise<RoleAuthorityRow | undefined> =>
  tx
    .selectFrom('role_authorities')
    .selectAll()
    .where('signs_at', '<=', now)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst()

async function lastNumber(tx: Tx): Promise<number> {
  const { last } = await tx
    .selectFrom('role_authorities')
    .select(({ fn }) => fn.max('number').as('last'))
    .executeTakeFirstOrThrow()
  return last ?? 0
}

function open(row: RoleAuthorityRow, sealer: Sealer, now: number) {
  // Its certificates would outlive it.
  if (row.expires_at - now < ROLE_CERTIFICATE_MS) return undefined
  try {
    return { certificate: row.certificate, key: sealer.open(row.private_key, PURPOSE) }
  } catch {
    return undefined
  }
}

/**
 * Issues a certificate, and records it, so that it can be revoked.
 * @throws RoleRevoked for a host that is marked lost or removed
 */
export async function issueRoleCertificate(
  options: RoleAuthorityOptions,
  { owner, publicKey }: { readonly owner: RoleName; readonly publicKey: KeyObject },
): Promise<{ readonly certificate: string; readonly serial: string; readonly expiresAt: number }> {
  const { database, now } = options
  const authority = await signingAuthority(options)
  const issued = issueForRole(authority, { owner, publicKey, now })
  await database.transaction(async (tx) => {
    if (owner.role === 'host' && (await isGivenUp(tx, owner.name))) throw new RoleRevoked(owner.name)
    await tx.deleteFrom('role_certificates').where('expires_at', '<=', now).execute()
    await tx
      .insertInto('role_certificates')
      .values({ serial: issued.serial, ...owner, issued_at: now, expires_at: issued.expiresAt, revoked_at: null })
      .execute()
  })
  return issued
}

async function isGivenUp(tx: Tx, name: string): Promise<boolean> {
  const row = await tx.selectFrom('hosts').select('state').where('name', '=', name).executeTakeFirst()
  return row?.state === 'lost' || row?.state === 'removed'
}

/** Returns whether a role has a certificate that is neither expired nor revoked. */
export async function isCertified(tx: Tx, { role, name }: RoleName, now: number): Promise<boolean> {
  const found = await tx
    .selectFrom('role_certificates')
    .select('serial')
    .where('role', '=', role)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', now)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Revokes all certificates of a role that are valid, and its login to the database. Its connections are closed within
 * seconds.
 */
export async function revokeRole(tx: Tx, { role, name }: RoleName, now: number): Promise<void> {
  await tx
    .updateTable('role_certificates')
    .set({ revoked_at: now })
    .where('role', '=', role)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .execute()
  // A running host must still learn that it is lost. Its login sees no rows of sites then.
  if (role !== 'host') await revokeLogin(tx, { role, name })
  await announce(tx, 'certificates')
}
