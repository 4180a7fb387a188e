import { LRUCache } from 'lru-cache'
import { addressKey } from '../../platform/budgets/address-key.ts'

/** Wrong passwords of an address within {@link WINDOW_MS} that lead to a ban. */
const MOST_FAILURES = 20
const WINDOW_MS = 600_000
const BAN_MS = 900_000
/** From the third failure on, the delay doubles. */
const FREE_FAILURES = 2
const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 8000
/** Addresses that are remembered. An attacker with more of them has other options anyway. */
const MOST_ADDRESSES = 20_000

interface Guesser {
  failures: number
  since: number
  bannedUntil: number
}

/** Addresses that guess passwords. Their delays grow, and then they are banned for a while. IPv6 counts by /64. */
export class Guessers {
  readonly #known = new LRUCache<string, Guesser>({ max: MOST_ADDRESSES })
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  isBanned(address: string): boolean {
    return (this.#known.get(addressKey(address))?.bannedUntil ?? 0) > this.#now()
  }

  /** @returns how long to delay the refusal, and whether the address is now banned */
  failed(address: string): { delayMs: number; isBanned: boolean } {
    const now = this.#now()
    const key = addressKey(address)
    const known = this.#known.get(key)
    const guesser =
      known && now - known.since < WINDOW_MS ? known : { failures: 0, since: now, bannedUntil: known?.bannedUntil ?? 0 }
    guesser.failures++
    const isBanned = guesser.failures >= MOST_FAILURES
    if (isBanned) guesser.bannedUntil = now + BAN_MS
    this.#known.set(key, guesser)
    const doublings = guesser.failures - FREE_FAILURES - 1
    return { delayMs: doublings < 0 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** doublings), isBanned }
  }

  /** A user who knows the password mistypes it sometimes. A ban stays. */
  succeeded(address: string): void {
    const known = this.#known.get(addressKey(address))
    if (known) known.failures = Math.max(0, known.failures - FREE_FAILURES)
  }
}
