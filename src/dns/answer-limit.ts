import { randomBytes } from 'node:crypto'
import ipaddr from 'ipaddr.js'

/**
 * Limits equal answers to one network. A server that answers any claimed sender would be a weapon against that address.
 */
export interface AnswerLimit {
  /**
   * Decides about an answer over UDP: send it, drop it, or replace it by "ask again over TCP", which is useless for
   * flooding.
   */
  judge(address: string, countedAs: string, nowMs: number): 'send' | 'drop' | 'slip'
}

/** A fixed number, whatever clients do. Two networks in one bucket share it. */
const BUCKETS = 1 << 16
/** One in this many answers over the limit says "use TCP", so that real clients get through. */
const SLIP = 2

/** @param perSecond the equal answers that one network may get per second; 0 means no limit */
export function createAnswerLimit(perSecond: number): AnswerLimit {
  if (perSecond === 0) return { judge: () => 'send' }
  const allowance = new Float64Array(BUCKETS).fill(perSecond)
  const seenMs = new Float64Array(BUCKETS)
  const overs = new Uint8Array(BUCKETS)
  const hash = keyedHash(randomBytes(4).readUInt32LE(0))
  return {
    judge(address, countedAs, nowMs) {
      const bucket = hash(`${networkOf(address)} ${countedAs}`) % BUCKETS
      const passedMs = Math.max(0, nowMs - (seenMs[bucket] as number))
      const allowed = Math.min(perSecond, (allowance[bucket] as number) + (passedMs * perSecond) / 1000)
      seenMs[bucket] = nowMs
      allowance[bucket] = allowed >= 1 ? allowed - 1 : allowed
      if (allowed >= 1) return 'send'
      const over = ((overs[bucket] as number) + 1) % SLIP
      overs[bucket] = over
      return over === 0 ? 'slip' : 'drop'
    },
  }
}

/**
 * Returns the /24 of an IPv4 address, or the /56 of an IPv6 address: the size of one victim, or one network of
 * resolvers.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address.slice(0, address.lastIndexOf('.'))
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return networkOf(parsed.toString())
  const [a = 0, b = 0, c = 0, d = 0] = (parsed as ipaddr.IPv6).parts
  return [a, b, c, d & 0xff00].map((part) => part.toString(16)).join(':')
}

/** FNV-1a with a secret start value. */
const keyedHash = (seed: number) => (text: string) => {
  let hash = seed
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
