/* The parts that all certificates of Stead's own authorities have in common. */
import { createHash, generateKeyPair, type KeyObject, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { bits, der, derInteger, octets, oid, sequence, setOf, time, utf8, yes } from './der.ts'

/** The length of a P-256 public key, which follows the description of the key type. */
const POINT_BYTES = 65
const makeKeyPair = promisify(generateKeyPair)
const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))

/** The fields of a certificate that are not extensions. */
export interface CertificateFields {
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
export function signCertificate(
  { issuer, subject, from, until, publicKey }: CertificateFields,
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
  return pem('CERTIFICATE', whole)
}

/** Returns the name of an authority or of the subject of a certificate. */
export const nameOf = (ownName?: string): Buffer =>
  sequence(
    setOf(sequence(oid('2.5.4.10'), utf8('Stead'))),
    ...(ownName === undefined ? [] : [setOf(sequence(oid('2.5.4.3'), utf8(ownName)))]),
  )

export const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [yes] : []), octets(value))

/**
 * Returns the id that distinguishes keys of certificates with the same name. Uses method (1) of RFC 5280 §4.2.1.2, so
 * that it never changes.
 */
export function keyId(key: KeyObject): Buffer {
  const point = key.export({ format: 'der', type: 'spki' }).subarray(-POINT_BYTES)
  return createHash('sha1').update(point).digest()
}

/** Creates a P-256 key pair. */
export const makeKeys = () => makeKeyPair('ec', { namedCurve: 'P-256' })

/** Returns a private key in PEM. */
export const pemOf = (key: KeyObject): string => key.export({ format: 'pem', type: 'pkcs8' }).toString()

/** Writes bytes as PEM (RFC 7468). */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}
