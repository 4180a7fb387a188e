import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import ipaddr from 'ipaddr.js'

/*
 * challenge  a token, and a number to find: SHA-256 of `<seed>:<number>` must begin with `bits` zeros.
 * pass       the cookie that a visitor gets for the number.
 *
 * Both are signed and self-contained, so that every edge process accepts what another one issued.
 */

/** The visitor whom a challenge or a pass is for. They are useless to others. */
export interface Bearer {
  readonly hostName: string
  /** IP address. */
  readonly address: string
  readonly userAgent: string
}

export interface ChallengeTokens {
  challenge(bearer: Bearer, nowMs: number): { token: string; seed: string }
  /** @returns the pass for a solved challenge; `undefined` when it is expired, another visitor's, or not solved */
  redeem(
    bearer: Bearer,
    token: string,
    answer: string,
    nowMs: number,
  ): { pass: string; lifeSeconds: number } | undefined
  /** @returns the ID of the pass, or `undefined` when the pass is not this visitor's or has expired */
  read(bearer: Bearer, pass: string, nowMs: number): string | undefined
}

/** 131,000 tries on average: 0.1 to 0.3 s in a browser on a desktop, some seconds on a slow phone. */
export const BITS = 17
/** The time from the page to its answer. */
const CHALLENGE_MS = 5 * 60_000
/** Counted from the challenge, so that sending an answer again does not extend it. */
const PASS_MS = 6 * 3_600_000
const ANSWER = /^\d{1,12}$/

/** @param key 32 bytes that all edges share, for this use only */
export function createTokens(key: Buffer): ChallengeTokens {
  const sign = (purpose: string, { hostName, address, userAgent }: Bearer, body: string): string =>
    createHmac('sha256', key)
      .update([purpose, body, hostName, networkOf(address), userAgent].join('\n'))
      .digest()
      .subarray(0, 18)
      .toString('base64url')
  const check = (purpose: string, bearer: Bearer, token: string, nowMs: number): Read | undefined => {
    if (token.length > 80) return undefined
    const [expires = '', id = '', signature = ''] = token.split('.')
    if (!isEqual(signature, sign(purpose, bearer, `${expires}.${id}`))) return undefined
    const expiresAtMs = Number.parseInt(expires, 36)
    return expiresAtMs > nowMs ? { id, signature, expiresAtMs } : undefined
  }
  return {
    challenge(bearer, nowMs) {
      const body = `${(nowMs + CHALLENGE_MS).toString(36)}.${randomBytes(9).toString('base64url')}`
      const seed = sign('challenge', bearer, body)
      return { token: `${body}.${seed}`, seed }
    },
    redeem(bearer, token, answer, nowMs) {
      const read = check('challenge', bearer, token, nowMs)
      if (!read || !ANSWER.test(answer) || leadingZeros(`${read.signature}:${answer}`) < BITS) return undefined
      const expiresAtMs = read.expiresAtMs - CHALLENGE_MS + PASS_MS
      // The same number as the challenge, so that an answer sent twice gives the same pass with the same quota.
      const body = `${expiresAtMs.toString(36)}.${read.id}`
      const lifeSeconds = Math.floor((expiresAtMs - nowMs) / 1000)
      return { pass: `${body}.${sign('pass', bearer, body)}`, lifeSeconds }
    },
    read: (bearer, pass, nowMs) => check('pass', bearer, pass, nowMs)?.id,
  }
}

interface Read {
  readonly id: string
  readonly signature: string
  readonly expiresAtMs: number
}

function isEqual(given: string, right: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}

const leadingZeros = (text: string): number => Math.clz32(createHash('sha256').update(text).digest().readUInt32BE(0))

/** Phones change the lower half of their IPv6 address at will (RFC 8981). */
function networkOf(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address
  return ipaddr.IPv6.parse(address).parts.slice(0, 4).join(':')
}
