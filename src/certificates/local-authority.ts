import { createPrivateKey, randomBytes } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { isBelow, LOCAL_CERTIFICATE_MS } from './local-domain.ts'

const DAY_MS = 86_400_000
const AUTHORITY_DAYS = 3_650
/** Clocks of other machines may be behind. */
const BEFORE_MS = DAY_MS
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const NAME_CONSTRAINTS = '2.5.29.30'

/** What certifies the names below one domain. */
export interface LocalAuthority {
  readonly domain: string
  /** PEM; what browsers are made to trust. */
  readonly certificate: string
  /** PEM. */
  readonly key: string
  readonly expiresAt: number
}

/**
 * Makes an authority that can certify names of one domain and nothing else: who trusts it need not fear what its key could do to other
 * addresses. Its name is its own, as stores tell certificates apart by that.
 */
export async function makeLocalAuthority(domain: string, now: number): Promise<LocalAuthority> {
  const keys = await makeKeys()
  const expiresAt = now + AUTHORITY_DAYS * DAY_MS
  const made = await X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerial(),
    name: [{ O: ['Stead'] }, { CN: [`Stead ${randomBytes(4).toString('hex')} for local sites`] }],
    notBefore: new Date(now - BEFORE_MS),
    notAfter: new Date(expiresAt),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      new ExtendedKeyUsageExtension([SERVER_AUTH]),
      new Extension(NAME_CONSTRAINTS, true, new Uint8Array(nameConstraints(domain))),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { domain, certificate: `${made.toString('pem')}\n`, key: await pemOf(keys.privateKey), expiresAt }
}

/** A certificate of one name, with a key of its own. @throws RangeError for a name that is not below the authority's domain */
export async function issueLocally(
  authority: LocalAuthority,
  hostName: string,
  now: number,
): Promise<{ readonly chain: string; readonly key: string; readonly expiresAt: number }> {
  if (!isBelow(hostName, authority.domain)) throw new RangeError(`${hostName} is not below ${authority.domain}`)
  const issuer = new X509Certificate(authority.certificate)
  const keys = await makeKeys()
  const notBefore = now - BEFORE_MS
  const expiresAt = notBefore + LOCAL_CERTIFICATE_MS
  const made = await X509CertificateGenerator.create({
    serialNumber: randomSerial(),
    // names belong into the extension alone: here is no room for long ones
    subject: [{ O: ['Stead'] }],
    issuer: issuer.subjectName,
    notBefore: new Date(notBefore),
    notAfter: new Date(expiresAt),
    publicKey: keys.publicKey,
    signingKey: await signingKeyOf(authority.key),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([SERVER_AUTH]),
      new SubjectAlternativeNameExtension([{ type: 'dns', value: hostName }]),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  })
  return { chain: `${made.toString('pem')}\n`, key: await pemOf(keys.privateKey), expiresAt }
}

const makeKeys = () => crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])

/** As long as the rules of browsers want it, and positive. */
const randomSerial = (): string => `01${randomBytes(15).toString('hex')}`

async function pemOf(key: CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key))
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    .export({ format: 'pem', type: 'pkcs8' })
    .toString()
}

const signingKeyOf = (pem: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('pkcs8', createPrivateKey(pem).export({ format: 'der', type: 'pkcs8' }), algorithm, false, [
    'sign',
  ])

/** RFC 5280 §4.2.1.10: names of the domain, and no addresses at all, which would be free otherwise. */
function nameConstraints(domain: string): Buffer {
  const subtree = (tag: number, value: Buffer) => der(0x30, der(tag, value))
  const permitted = der(0xa0, subtree(0x82, Buffer.from(domain)))
  const excluded = der(0xa1, subtree(0x87, Buffer.alloc(8)), subtree(0x87, Buffer.alloc(32)))
  return der(0x30, permitted, excluded)
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const bytes = body.length < 0x100 ? [body.length] : [body.length >> 8, body.length & 0xff]
  // from 128 on the length says first how long it is itself
  const length = body.length < 0x80 ? bytes : [0x80 | bytes.length, ...bytes]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
