import type { Sealer } from '../../platform/crypto/seal.ts'

/* A domain of another account is claimed by a TXT record: whoever can set it controls the domain. */

/** An account has proved that it controls a domain of another one. */
export interface Claim {
  readonly id: number
  readonly zone: string
  /** Who claims it. */
  readonly accountId: number
  /** Who had it, and was told. */
  readonly holderId: number
  /** Gets the host name when the zone moves. */
  readonly siteId: number
  readonly hostName: string
  /** Of the TXT record that was seen. */
  readonly value: string
  readonly movesAt: number
}

/** How long the account that has the domain knows of it before the domain moves. */
export const NOTICE_MS = 86_400_000

/** Claims that an account can have at a time. */
export const MOST_CLAIMS = 20

export const recordNameOf = (zone: string): string => `_stead-challenge.${zone}`

/**
 * Returns the value of the TXT record by which an account claims a zone. It holds for this account, this zone and this installation, and nobody
 * else can compute it: a record that was set for another account proves nothing.
 */
export const claimValue = (sealer: Sealer, accountId: number, zone: string): string =>
  `stead-${sealer.mark(`${accountId} ${zone}`, 'claims of domains')}`
