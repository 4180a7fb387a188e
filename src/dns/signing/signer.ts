import { sign } from 'node:crypto'
import type { OwnedSet } from '../owned-set.ts'
import { labelsOf, wireOf } from '../wire/name.ts'
import { Class, Type } from '../wire/protocol.ts'
import { type DataPart, longs, type RecordSet, uint16s } from '../wire/record-data.ts'
import { dsOf, SIGNING_ALGORITHM, type ZoneKey } from './signing-key.ts'

/** Longer than a secondary answers without contact to its primary (`timers.expire`). */
export const VALID_SECONDS = 21 * 86_400
/** Allows for clocks that are behind. */
const EARLIER_SECONDS = 3 * 3600
/** The time for which a signature is reused. */
const KEPT_SECONDS = 86_400
const KEY_TTL = 3600
/** RFC 8078 §4: "delete the records about me". */
const REMOVAL = { cds: Buffer.from([0, 0, 0, 0, 0]), cdnskey: Buffer.from([0, 0, 3, 0, 0]) }

/** The types that all keys sign: the keys, and what the zone above needs to know about them (RFC 7344 §4.1). */
const ofAllKeys: readonly number[] = [Type.DNSKEY, Type.CDS, Type.CDNSKEY]

interface Kept {
  readonly owner: string
  readonly signatures: RecordSet
  readonly atSeconds: number
}

/** Signs the records of a zone on demand (RFC 4034, RFC 4035). */
export class ZoneSigner {
  readonly #zone: string
  readonly #signerName: Buffer
  readonly #keys: readonly ZoneKey[]
  readonly #active: readonly ZoneKey[]
  readonly #now: () => number
  /** By set. Entries disappear when the zone is replaced. */
  readonly #kept = new WeakMap<RecordSet, Kept>()

  /** @param keys at least one of them active */
  constructor(zone: string, keys: readonly ZoneKey[], now: () => number = Date.now) {
    this.#zone = zone
    this.#signerName = wireOf(zone)
    this.#keys = keys
    this.#active = keys.filter(({ state }) => state === 'active')
    this.#now = now
  }

  /**
   * Returns the records at the apex that describe the keys: DNSKEY, and CDS and CDNSKEY, from which a registry may take
   * the records to publish.
   * @param isLeaving whether the zone above should delete its records
   */
  keySets(isLeaving: boolean): RecordSet[] {
    const next = this.#keys.filter(({ state }) => state === 'published')
    const wanted = next.length > 0 ? next : this.#active
    const set = (type: number, data: readonly Buffer[]): RecordSet => ({
      type,
      ttl: KEY_TTL,
      data: data.map((each) => [each]),
      targets: [],
    })
    return [
      set(
        Type.DNSKEY,
        this.#keys.map(({ dnskey }) => dnskey),
      ),
      set(Type.CDS, isLeaving ? [REMOVAL.cds] : wanted.map((key) => dsOf(this.#zone, key))),
      set(Type.CDNSKEY, isLeaving ? [REMOVAL.cdnskey] : wanted.map(({ dnskey }) => dnskey)),
    ]
  }

  /**
   * Returns the signatures of a set.
   * @param isKept whether they may be reused, which is wrong for an owner that a client has made up
   */
  signaturesOf({ owner, set }: OwnedSet, isKept: boolean): RecordSet {
    const nowSeconds = Math.floor(this.#now() / 1000)
    const kept = this.#kept.get(set)
    const age = kept ? nowSeconds - kept.atSeconds : Number.NaN
    if (kept?.owner === owner && age >= 0 && age < KEPT_SECONDS) return kept.signatures
    const keys = ofAllKeys.includes(set.type) ? this.#keys : this.#active
    const signatures = {
      type: Type.RRSIG,
      ttl: set.ttl,
      data: keys.map((key) => [this.#sign(key, owner, set, nowSeconds)]),
      targets: [],
    }
    if (isKept) this.#kept.set(set, { owner, signatures, atSeconds: nowSeconds })
    return signatures
  }

  #sign({ privateKey, tag }: ZoneKey, owner: string, set: RecordSet, nowSeconds: number): Buffer {
    const labels = labelsOf(owner)
    const head = Buffer.concat([
      uint16s(set.type),
      // RFC 4034 §3.1.3: the label of a wildcard does not count.
      Buffer.from([SIGNING_ALGORITHM, labels[0] === '*' ? labels.length - 1 : labels.length]),
      longs(set.ttl, nowSeconds + VALID_SECONDS, nowSeconds - EARLIER_SECONDS),
      uint16s(tag),
      this.#signerName,
    ])
    const signature = sign('sha256', Buffer.concat([head, ...canonical(owner, set)]), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    return Buffer.concat([head, signature])
  }
}

/**
 * Returns the set in the form that is signed (RFC 4034 §6): full names in lower case, records in the order of their
 * data.
 */
function canonical(owner: string, set: RecordSet): Buffer[] {
  const head = Buffer.concat([wireOf(owner), uint16s(set.type, Class.IN), longs(set.ttl)])
  return set.data
    .map(wholeData)
    .sort(Buffer.compare)
    .map((data) => Buffer.concat([head, uint16s(data.length), data]))
}

const wholeData = (parts: readonly DataPart[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? wireOf(part) : part)))
