/** Certificates of an authority that exists only in memory, for tests of connections between machines. */
import { issueForRole, makeRoleAuthority, type RoleAuthority } from '../../certificates/role-authority.ts'
import { makeKeys, pemOf } from '../../certificates/sign-certificate.ts'
import type { RoleName } from './role-name.ts'
import { type KnownRoles, RoleTrust } from './role-trust.ts'

export interface TestAuthority {
  readonly authority: RoleAuthority
  readonly known: KnownRoles
  issue(owner: RoleName, at?: number): Promise<{ certificate: string; key: string; serial: string }>
  /** Returns the trust of a role with a certificate of its own. */
  trustOf(owner: RoleName, known?: Partial<KnownRoles>): Promise<RoleTrust & { readonly serial: string }>
}

/** Creates an authority. @param now milliseconds UTC */
export async function testAuthority(now = Date.now()): Promise<TestAuthority> {
  const authority = await makeRoleAuthority(now)
  const known: KnownRoles = { authorities: [authority.certificate], revoked: [] }
  const issue: TestAuthority['issue'] = async (owner, at = now) => {
    const { publicKey, privateKey } = await makeKeys()
    return { ...issueForRole(authority, { owner, publicKey, now: at }), key: pemOf(privateKey) }
  }
  return {
    authority,
    known,
    issue,
    async trustOf(owner, more = {}) {
      const own = await issue(owner)
      return Object.assign(new RoleTrust(own, { ...known, ...more }), { serial: own.serial })
    },
  }
}
