import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, X509Certificate } from 'node:crypto'
import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import { type RoleName, uriOf } from '../platform/mtls/role-name.ts'
import { bits, der, derInteger, octets, oid, sequence, yes } from './der.ts'
import { commonName } from './local-authority.ts'
import { extension, keyId, makeKeys, nameOf, pemOf, signCertificate } from './sign-certificate.ts'

const AUTHORITY_DAYS = 3_650
export const ROLE_CERTIFICATE_MS = 30 * DAY_MS
/** Allows for clocks of other machines that are behind. */
const BEFORE_MS = HOUR_MS

/** An authority of the installation, which certifies its controls, edges and hosts. Both in PEM. */
export interface RoleAuthority {
  readonly certificate: string
  readonly key: string
}

/** Creates an authority (ECDSA P-256). Its name is unique, so that two can be trusted while they change. */
export async function makeRoleAuthority(now: number): Promise<RoleAuthority & { readonly expiresAt: number }> {
  const keys = await makeKeys()
  const expiresAt = now + AUTHORITY_DAYS * DAY_MS
  const name = nameOf(`Stead ${randomBytes(4).toString('hex')} for machines`)
  const certificate = signCertificate(
    { issuer: name, subject: name, from: now - BEFORE_MS, until: expiresAt, publicKey: keys.publicKey },
    [
      // An authority that cannot certify other authorities.
      extension('2.5.29.19', true, sequence(yes, derInteger(0))),
      // Signs certificates and revocation lists.
      extension('2.5.29.15', true, bits(Buffer.from([0x06]), 1)),
      extension('2.5.29.14', false, octets(keyId(keys.publicKey))),
    ],
    keys.privateKey,
  )
  return { certificate, key: pemOf(keys.privateKey), expiresAt }
}

const SERVER = oid('1.3.6.1.5.5.7.3.1')
const CLIENT = oid('1.3.6.1.5.5.7.3.2')

/**
 * Issues a certificate for a role, for a key that its owner keeps. It has one name, as a URI such as `host:h1`.
 * @param now milliseconds UTC
 */
export function issueForRole(
  authority: RoleAuthority,
  { owner, publicKey, now }: { readonly owner: RoleName; readonly publicKey: KeyObject; readonly now: number },
): { readonly certificate: string; readonly serial: string; readonly expiresAt: number } {
  const signingKey = createPrivateKey(authority.key)
  const expiresAt = now + ROLE_CERTIFICATE_MS
  const certificate = signCertificate(
    { issuer: nameOf(commonName(authority)), subject: nameOf(), from: now - BEFORE_MS, until: expiresAt, publicKey },
    [
      extension('2.5.29.19', true, sequence()),
      // Creates signatures.
      extension('2.5.29.15', true, bits(Buffer.from([0x80]), 7)),
      // Edges connect to others, and nobody connects to them with this certificate.
      extension('2.5.29.37', false, owner.role === 'edge' ? sequence(CLIENT) : sequence(SERVER, CLIENT)),
      extension('2.5.29.17', false, sequence(der(0x86, Buffer.from(uriOf(owner), 'latin1')))),
      extension('2.5.29.35', false, sequence(der(0x80, keyId(createPublicKey(signingKey))))),
    ],
    signingKey,
  )
  return { certificate, serial: new X509Certificate(certificate).serialNumber, expiresAt }
}
