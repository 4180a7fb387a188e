import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { wireOf } from '../wire/name.ts'
import { uint16s } from '../wire/record-data.ts'

/** ECDSA on the curve P-256 with SHA-256 (RFC 6605). */
export const SIGNING_ALGORITHM = 13
export const SHA256_DIGEST = 2
/** Zone key, secure entry point: it signs the keys and everything else (a combined signing key). */
const FLAGS = 257
const PROTOCOL = 3

/**
 * `published`: being introduced. It signs only the keys, until the zone above names it. `active`: it signs everything.
 * `retired`: being removed. It is kept until caches have forgotten its signatures, and the DS record of the zone above.
 */
export type KeyState = 'published' | 'active' | 'retired'

export interface ZoneKey {
  readonly state: KeyState
  readonly privateKey: KeyObject
  /** The data of the DNSKEY record. */
  readonly dnskey: Buffer
  readonly tag: number
}

/** @returns a new private key (PKCS #8, DER, base64) */
export const makePrivateKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

/** @param privateKey in the form that `makePrivateKey` returns */
export function zoneKey(privateKey: string, state: KeyState): ZoneKey {
  const key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  const { x = '', y = '' } = createPublicKey(key).export({ format: 'jwk' })
  const point = [x, y].map((each) => Buffer.from(each, 'base64url'))
  const dnskey = Buffer.concat([uint16s(FLAGS), Buffer.from([PROTOCOL, SIGNING_ALGORITHM]), ...point])
  return { state, privateKey: key, dnskey, tag: keyTag(dnskey) }
}

/** Returns the tag of a key (RFC 4034, appendix B). */
export function keyTag(dnskey: Buffer): number {
  let sum = 0
  for (const [at, byte] of dnskey.entries()) sum += at & 1 ? byte : byte << 8
  return (sum + (sum >> 16)) & 0xffff
}

/** Returns the data of a key's DS record in the zone above (RFC 4034 §5.1). */
export function dsOf(zone: string, { dnskey, tag }: Pick<ZoneKey, 'dnskey' | 'tag'>): Buffer {
  const digest = createHash('sha256').update(wireOf(zone)).update(dnskey).digest()
  return Buffer.concat([uint16s(tag), Buffer.from([SIGNING_ALGORITHM, SHA256_DIGEST]), digest])
}
