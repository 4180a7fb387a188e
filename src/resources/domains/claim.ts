import type { Sealer } from '../../platform/crypto/seal.ts'

/* A claim of another account's domain by a TXT record. A person who can set the record controls the domain. */

/** Proof by an account that it controls a domain of another one. */
export interface Claim {
  readonly id: number
  readonly zone: string
  /** The account that claims it. */
  readonly accountId: number
  /** The account that had it, and was notified. */
  readonly holderId: number
  /** The site that gets the host name when the zone moves. */
  readonly siteId: number
  readonly hostName: string
  /** Value of the TXT record that was seen. */
  readonly value: string
  readonly movesAt: number
}

/** How long before the move the domain's current account is notified. */
export const NOTICE_MS = 86_400_000

/** How many claims an account can have at a time. */
export const MOST_CLAIMS = 20

export const recordNameOf = (zone: string): string => `_stead-challenge.${zone}`

/**
 * Returns the value of the TXT record with which an account claims a zone. It is valid for this account, zone and
 * installation, and only Stead can compute it, so a record that was set for another account proves nothing.
 */
export const claimValue = (sealer: Sealer, accountId: number, zone: string): string =>
  `stead-${sealer.mark(`${accountId} ${zone}`, 'claims of domains')}`
