import type { KeyState } from '../../dns/signing/signing-key.ts'

/** How long resolvers cache the keys of a zone, with a margin: the TTL of DNSKEY records is an hour. */
export const KEYS_KNOWN_MS = 2 * 3600_000
/** How long resolvers cache the DS records of the parent zone, and signatures: nearly all TTLs are a day or two. */
export const FORGOTTEN_MS = 3 * 86_400_000

export interface KeyNow {
  readonly id: number
  readonly state: KeyState
  readonly stateAt: number
  /** Whether the parent zone names the key. */
  readonly hasDs: boolean
}

export interface ZoneNow {
  readonly dnssec: 'on' | 'leaving'
  /** When the parent zone last named any of its keys. */
  readonly dsSeenAt: number | null
  readonly keys: readonly KeyNow[]
}

/** The changes to the keys of a zone. */
export interface Settlement {
  readonly states: ReadonlyMap<number, KeyState>
  readonly deleted: readonly number[]
  /** Whether the zone can become unsigned: no resolver expects a signature. */
  readonly isOver: boolean
}

/**
 * Returns what follows from the DS records in the parent zone (RFC 6781 §4.1, RFC 7583). A new key signs when the
 * parent names it. An old key is deleted when the parent no longer names it and no resolver caches its signatures. A
 * zone stays signed until no resolver caches its DS records.
 */
export function nextState(zone: ZoneNow, now: number): Settlement {
  const { dnssec, dsSeenAt, keys } = zone
  const nothing = { states: new Map<number, KeyState>(), deleted: [], isOver: false }
  if (dnssec === 'leaving') {
    const isNamed = keys.some(({ hasDs }) => hasDs)
    const isForgotten = dsSeenAt === null || now - dsSeenAt >= FORGOTTEN_MS
    return { ...nothing, isOver: !isNamed && isForgotten }
  }
  const next = keys.find(
    ({ state, stateAt, hasDs }) => state === 'published' && hasDs && now - stateAt >= KEYS_KNOWN_MS,
  )
  if (next) {
    const replaced = keys.filter(({ state }) => state === 'active').map(({ id }) => [id, 'retired'] as const)
    return { ...nothing, states: new Map([[next.id, 'active'], ...replaced]) }
  }
  const old = keys.filter(({ state, stateAt, hasDs }) => state === 'retired' && !hasDs && now - stateAt >= FORGOTTEN_MS)
  return { ...nothing, deleted: old.map(({ id }) => id) }
}

/** The time between two checks while a change is pending. */
export const OFTEN_MS = 3600_000
const SELDOM_MS = 86_400_000

/** Returns when to check a zone next: often while a change is pending. */
export function nextLook({ dnssec, keys }: Pick<ZoneNow, 'dnssec' | 'keys'>, now: number): number {
  const isSettled = dnssec === 'on' && keys.every(({ state, hasDs }) => state === 'active' && hasDs)
  return now + (isSettled ? SELDOM_MS : OFTEN_MS)
}
