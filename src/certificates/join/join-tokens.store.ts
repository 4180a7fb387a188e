import { createHash, type KeyObject } from 'node:crypto'
import type { Tx } from '../../platform/db/database.ts'
import type { RoleName } from '../../platform/mtls/role-name.ts'
import { issueRoleCertificate, type RoleAuthorityOptions, signingAuthority } from '../role-certificates.store.ts'
import { hashOfSecret, makeJoinToken } from './join-token.ts'

/** Another host has this name. */
export class NameInUse extends Error {
  override readonly name = 'NameInUse'
}

/** No host has this name, or it was removed. */
export class NoSuchHost extends Error {
  override readonly name = 'NoSuchHost'
}

/** The token is unknown, expired, or used by another machine. Which of them, only the operator may know. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

/** Where a host that joins serves sites. */
export interface JoinPlace {
  readonly datacenters: readonly string[]
}

/**
 * Creates a token with which one machine joins, once, as one role.
 * @param expiresAt milliseconds UTC
 * @param datacenters codes that a host serves, `[]` means all
 * @param again whether a host with this name exists, whose machine joins again
 * @returns the token. Only its hash is stored.
 * @throws NameInUse, NoSuchHost
 */
export async function createJoinToken(
  options: RoleAuthorityOptions,
  {
    role,
    name,
    expiresAt,
    datacenters = [],
    again = false,
  }: RoleName & { readonly expiresAt: number; readonly again?: boolean } & Partial<JoinPlace>,
): Promise<string> {
  const { certificate } = await signingAuthority(options)
  const { secret, text } = makeJoinToken(certificate)
  await options.database.transaction(async (tx) => {
    const state = role === 'host' ? await stateOfHost(tx, name) : undefined
    if (!again && state) throw new NameInUse(name)
    if (again && (!state || state === 'removed')) throw new NoSuchHost(name)
    await tx.deleteFrom('join_tokens').where('expires_at', '<=', options.now).execute()
    const row = { hash: hashOfSecret(secret), role, name, expires_at: expiresAt, used_by: null }
    await tx
      .insertInto('join_tokens')
      .values({ ...row, datacenters: datacenters.join(',') || null })
      .execute()
  })
  return text
}

const stateOfHost = async (tx: Tx, name: string): Promise<string | undefined> =>
  (await tx.selectFrom('hosts').select('state').where('name', '=', name).executeTakeFirst())?.state

/**
 * Certifies the key of the first machine that shows the token. The same key may come again until the token expires,
 * because the machine may not have got the answer.
 * @throws TokenRefused, RoleRevoked
 */
export async function redeemJoinToken(
  options: RoleAuthorityOptions,
  { secret, publicKey }: { readonly secret: string; readonly publicKey: KeyObject },
): Promise<RoleName & JoinPlace & { readonly certificate: string }> {
  const key = createHash('sha256')
    .update(publicKey.export({ format: 'der', type: 'spki' }))
    .digest('hex')
  const redeemed = await options.database.transaction((tx) =>
    tx
      .updateTable('join_tokens')
      .set({ used_by: key })
      .where('hash', '=', hashOfSecret(secret))
      .where('expires_at', '>', options.now)
      .where((each) => each.or([each('used_by', 'is', null), each('used_by', '=', key)]))
      .returning(['role', 'name', 'datacenters'])
      .executeTakeFirst(),
  )
  if (!redeemed) throw new TokenRefused()
  const { datacenters, ...owner } = redeemed
  const { certificate } = await issueRoleCertificate(options, { owner, publicKey })
  return { ...owner, certificate, datacenters: datacenters?.split(',') ?? [] }
}
