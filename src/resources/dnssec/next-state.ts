import type { KeyState } from '../../dns/signing/key.ts'

/** How long what a zone says of its keys is remembered at most, and some more: that of the DNSKEY records is an hour. */
export const KEYS_KNOWN_MS = 2 * 3600_000
/** How long what the zone above says of its keys, or what they have signed, is remembered: nearly all say a day or two. */
export const FORGOTTEN_MS = 3 * 86_400_000

export interface KeyNow {
  readonly id: number
  readonly state: KeyState
  readonly stateAt: number
  /** The zone above names it. */
  readonly hasDs: boolean
}

export interface ZoneNow {
  readonly dnssec: 'on' | 'leaving'
  /** When the zone above last named any of its keys. */
  readonly dsSeenAt: number | null
  readonly keys: readonly KeyNow[]
}

/** What is to be done with the keys of a zone. */
export interface Settlement {
  readonly states: ReadonlyMap<number, KeyState>
  readonly deleted: readonly number[]
  /** Nobody trusts a key any more: it need not be signed. */
  readonly isOver: boolean
}

/**
 * What follows from what the zone above names (RFC 6781 §4.1, RFC 7583): a new key signs when it is named there; an old one goes when it is
 * not any more and nobody remembers what it has signed; a zone is signed until nobody remembers that it was named at all.
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

/** Between two looks while something is waited for. */
export const OFTEN_MS = 3600_000
const SELDOM_MS = 86_400_000

/** When a zone is to be looked at next: often while somebody waits for something. */
export function nextLook({ dnssec, keys }: Pick<ZoneNow, 'dnssec' | 'keys'>, now: number): number {
  const isSettled = dnssec === 'on' && keys.every(({ state, hasDs }) => state === 'active' && hasDs)
  return now + (isSettled ? SELDOM_MS : OFTEN_MS)
}
