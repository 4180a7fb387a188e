import { createHmac, timingSafeEqual } from 'node:crypto'
import { longs } from './record-data.ts'

/*
 * Cookies (RFC 7873) in the format of RFC 9018. A client with one of ours has received answers at this address before.
 */

const CLIENT_BYTES = 8
const SERVER_BYTES = 16
const HASH_BYTES = 8
const VERSION = Buffer.from([1, 0, 0, 0])
/** RFC 9018 §4.3: how long a cookie is valid, and how far ahead a clock may be. */
const GOOD_SECONDS = 3600
const AHEAD_SECONDS = 300

export class Cookies {
  readonly #secret: Buffer

  /** @param secret the same in all processes, so that they accept each other's cookies */
  constructor(secret: Buffer) {
    this.#secret = secret
  }

  /** Returns the client cookie and a fresh server cookie, for the answer. */
  answerTo(cookie: Buffer, address: string, nowMs: number): Buffer {
    const client = cookie.subarray(0, CLIENT_BYTES)
    const head = Buffer.concat([VERSION, longs(Math.floor(nowMs / 1000))])
    return Buffer.concat([client, head, this.#hash(client, head, address)])
  }

  isOurs(cookie: Buffer, address: string, nowMs: number): boolean {
    if (cookie.length !== CLIENT_BYTES + SERVER_BYTES) return false
    const client = cookie.subarray(0, CLIENT_BYTES)
    const head = cookie.subarray(CLIENT_BYTES, CLIENT_BYTES + SERVER_BYTES - HASH_BYTES)
    const ageSeconds = Math.floor(nowMs / 1000) - head.readUInt32BE(4)
    if (ageSeconds > GOOD_SECONDS || ageSeconds < -AHEAD_SECONDS) return false
    return timingSafeEqual(cookie.subarray(-HASH_BYTES), this.#hash(client, head, address))
  }

  #hash(client: Buffer, head: Buffer, address: string): Buffer {
    return createHmac('sha256', this.#secret)
      .update(client)
      .update(head)
      .update(address)
      .digest()
      .subarray(0, HASH_BYTES)
  }
}
