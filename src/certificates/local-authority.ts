import { createPrivateKey, createPublicKey, randomBytes, X509Certificate } from 'node:crypto'
import { DAY_MS } from '../platform/durations.ts'
import { bits, der, derInteger, octets, oid, sequence, yes } from './der.ts'
import { isBelow, LOCAL_CERTIFICATE_MS } from './local-domain.ts'
import { extension, keyId, makeKeys, nameOf, pemOf, signCertificate } from './sign-certificate.ts'

const AUTHORITY_DAYS = 3_650
/** Allows for clocks of other machines that are behind. */
const BEFORE_MS = DAY_MS

/** The authority that certifies the names below one domain. */
export interface LocalAuthority {
  readonly domain: string
  /** PEM. Browsers are configured to trust it. */
  readonly certificate: string
  /** PEM. */
  readonly key: string
  readonly expiresAt: number
}

/**
 * Creates an authority that can certify only names of one domain. Anyone who trusts it is safe from misuse of its key
 * for other addresses. Its name is unique, because trust stores tell certificates apart by name.
 */
export async function makeLocalAuthority(domain: string, now: number): Promise<LocalAuthority> {
  const keys = await makeKeys()
  const expiresAt = now + AUTHORITY_DAYS * DAY_MS
  const name = nameOf(`Stead ${randomBytes(4).toString('hex')} for local sites`)
  const certificate = signCertificate(
    { issuer: name, subject: name, from: now - BEFORE_MS, until: expiresAt, publicKey: keys.publicKey },
    [
      // An authority that cannot certify other authorities.
      extension('2.5.29.19', true, sequence(yes, derInteger(0))),
      // Signs certificates and revocation lists.
      extension('2.5.29.15', true, bits(Buffer.from([0x06]), 1)),
      forServers,
      extension('2.5.29.30', true, nameConstraints(domain)),
      extension('2.5.29.14', false, octets(keyId(keys.publicKey))),
    ],
    keys.privateKey,
  )
  return { domain, certificate, key: pemOf(keys.privateKey), expiresAt }
}

/**
 * Issues a certificate of one name, with its own key.
 * @throws RangeError for a name that is not below the authority's domain
 */
export async function issueLocally(
  authority: LocalAuthority,
  hostName: string,
  now: number,
): Promise<{ readonly chain: string; readonly key: string; readonly expiresAt: number }> {
  if (!isBelow(hostName, authority.domain)) throw new RangeError(`${hostName} is not below ${authority.domain}`)
  const signingKey = createPrivateKey(authority.key)
  const keys = await makeKeys()
  const from = now - BEFORE_MS
  const expiresAt = from + LOCAL_CERTIFICATE_MS
  const chain = signCertificate(
    // The host name belongs only in the extension, because the subject has no room for long ones.
    { issuer: nameOf(commonName(authority)), subject: nameOf(), from, until: expiresAt, publicKey: keys.publicKey },
    [
      extension('2.5.29.19', true, sequence()),
      // Creates signatures.
      extension('2.5.29.15', true, bits(Buffer.from([0x80]), 7)),
      forServers,
      extension('2.5.29.17', false, sequence(der(0x82, Buffer.from(hostName)))),
      extension('2.5.29.35', false, sequence(der(0x80, keyId(createPublicKey(signingKey))))),
    ],
    signingKey,
  )
  return { chain, key: pemOf(keys.privateKey), expiresAt }
}

/** Returns the unique name of an authority. */
export function commonName({ certificate }: Pick<LocalAuthority, 'certificate'>): string {
  const name = /^CN=(.*)$/m.exec(new X509Certificate(certificate).subject)?.[1]
  if (!name) throw new Error('The certificate of the authority has no name')
  return name
}

/** Extended key usage: TLS servers. */
const forServers = extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.1')))

/**
 * Returns the constraints (RFC 5280 §4.2.1.10): names of the domain, and no addresses, which would otherwise be
 * unrestricted.
 */
function nameConstraints(domain: string): Buffer {
  const subtree = (tag: number, value: Buffer) => sequence(der(tag, value))
  const permitted = der(0xa0, subtree(0x82, Buffer.from(domain)))
  const excluded = der(0xa1, subtree(0x87, Buffer.alloc(8)), subtree(0x87, Buffer.alloc(32)))
  return sequence(permitted, excluded)
}
