import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { promisify } from 'node:util'
import { DAY_MS } from '../platform/durations.ts'
import { bits, der, derInteger, octets, oid, sequence, setOf, time, utf8, yes } from './der.ts'
import { isBelow, LOCAL_CERTIFICATE_MS } from './local-domain.ts'

const AUTHORITY_DAYS = 3_650
/** Allows for clocks of other machines that are behind. */
const BEFORE_MS = DAY_MS
/** The length of a P-256 public key, which follows the description of the key type. */
const POINT_BYTES = 65
const makeKeyPair = promisify(generateKeyPair)
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

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
  const certificate = signed(
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
  const chain = signed(
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

interface About {
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly from: number
  readonly until: number
  readonly publicKey: KeyObject
}

/**
 * Signs a certificate (RFC 5280 §4.1).
 * @returns PEM
 */
function signed(
  { issuer, subject, from, until, publicKey }: About,
  extensions: readonly Buffer[],
  by: KeyObject,
): string {
  const certificate = sequence(
    der(0xa0, derInteger(2)),
    // Random, positive, and as long as browsers require.
    derInteger(0x01, ...randomBytes(15)),
    ...[ecdsaWithSha256, issuer, sequence(time(from), time(until)), subject],
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(...extensions)),
  )
  const whole = sequence(certificate, ecdsaWithSha256, bits(sign('sha256', certificate, by)))
  const lines = whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

const nameOf = (ownName?: string): Buffer =>
  sequence(
    setOf(sequence(oid('2.5.4.10'), utf8('Stead'))),
    ...(ownName === undefined ? [] : [setOf(sequence(oid('2.5.4.3'), utf8(ownName)))]),
  )

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [yes] : []), octets(value))

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

/**
 * Returns the id that distinguishes keys of certificates with the same name. Uses method (1) of RFC 5280 §4.2.1.2, so
 * that it never changes.
 */
function keyId(key: KeyObject): Buffer {
  const point = key.export({ format: 'der', type: 'spki' }).subarray(-POINT_BYTES)
  return createHash('sha1').update(point).digest()
}

const makeKeys = () => makeKeyPair('ec', { namedCurve: 'P-256' })

const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString()
