import { createHmac, timingSafeEqual } from 'node:crypto'
import { readName, wireOf } from './name.ts'
import { Class, Rcode, TsigError, Type } from './protocol.ts'
import { longs, uint16s } from './record-data.ts'

/* Signed messages (RFC 8945), with hmac-sha256 only, which every server supports. */

/** Secrets by the names of their keys, which are domain names. */
export type TsigKeys = ReadonlyMap<string, Buffer>

/** A received signature. */
export interface Tsig {
  readonly keyName: string
  readonly algorithm: string
  readonly timeSeconds: number
  readonly fudgeSeconds: number
  readonly mac: Buffer
  readonly originalId: number
  /** The signed data, as it was before the signature was added. */
  readonly signed: Buffer
}

/** The result of checking a client's signature. */
export interface SignatureVerdict {
  /** 0 if it is valid. */
  readonly error: number
  readonly keyName: string
  readonly mac: Buffer
}

export const TSIG_ALGORITHM = 'hmac-sha256'
/** How far clocks may differ. */
const FUDGE_SECONDS = 300
const MAC_BYTES = 32

interface Place {
  readonly start: number
  readonly name: string
  /** The position of its type. */
  readonly head: number
  readonly data: number
  readonly end: number
}

/**
 * Parses the signature at a position of a message.
 * @returns undefined when there is none
 */
export function readTsig(message: Buffer, { start, name, head, data, end }: Place): Tsig | undefined {
  if (message.readUInt16BE(head + 2) !== Class.ANY || message.readUInt32BE(head + 4) !== 0) return undefined
  const algorithm = readName(message, data)
  if (!algorithm || algorithm.end + 10 > end) return undefined
  const fixed = algorithm.end
  const macEnd = fixed + 10 + message.readUInt16BE(fixed + 8)
  if (macEnd + 6 > end || macEnd + 6 + message.readUInt16BE(macEnd + 4) !== end) return undefined
  const originalId = message.readUInt16BE(macEnd)
  const signed = Buffer.from(message.subarray(0, start))
  signed.writeUInt16BE(originalId, 0)
  signed.writeUInt16BE(signed.readUInt16BE(10) - 1, 10)
  return {
    keyName: name,
    algorithm: algorithm.name,
    timeSeconds: message.readUIntBE(fixed, 6),
    fudgeSeconds: message.readUInt16BE(fixed + 6),
    mac: message.subarray(fixed + 10, macEnd),
    originalId,
    signed,
  }
}

/** @param before the signature of the message that this one answers, if it does */
export function verify(tsig: Tsig, keys: TsigKeys, nowMs: number, before?: Buffer): SignatureVerdict {
  const { keyName, mac } = tsig
  const key = keys.get(keyName)
  if (!key || tsig.algorithm !== TSIG_ALGORITHM) return { error: TsigError.BADKEY, keyName, mac }
  const hmac = createHmac('sha256', key)
  if (before) hmac.update(uint16s(before.length)).update(before)
  const expected = hmac
    .update(tsig.signed)
    .update(variables(keyName, tsig.timeSeconds, tsig.fudgeSeconds, TsigError.NONE, Buffer.alloc(0)))
    .digest()
  // Truncated signatures are optional, and not needed here.
  if (mac.length !== MAC_BYTES || !timingSafeEqual(mac, expected)) return { error: TsigError.BADSIG, keyName, mac }
  const isOnTime = Math.abs(Math.floor(nowMs / 1000) - tsig.timeSeconds) <= tsig.fudgeSeconds
  return { error: isOnTime ? TsigError.NONE : TsigError.BADTIME, keyName, mac }
}

/** Returns the rcode of an answer to a message with this verdict. */
export const rcodeOf = ({ error }: SignatureVerdict): number =>
  error === TsigError.NONE ? Rcode.NOERROR : Rcode.NOTAUTH

/** Returns the most bytes that a signature under a key adds to a message. */
export const signatureBytes = (keyName: string): number =>
  wireOf(keyName).length + 10 + wireOf(TSIG_ALGORITHM).length + 16 + MAC_BYTES + 6

/** Signs messages: one, or a stream of them whose signatures form a chain (RFC 8945 §5.3.1). */
export class Signer {
  readonly #keyName: string
  readonly #key: Buffer | undefined
  readonly #error: number
  #before: Buffer | undefined
  #isFirst = true

  /** @param before the signature of the message that these answer */
  constructor(
    keys: TsigKeys,
    { keyName, error = TsigError.NONE, mac }: { keyName: string; error?: number; mac?: Buffer },
  ) {
    this.#keyName = keyName
    this.#error = error
    // RFC 8945 §5.2: an untrusted client gets no signature.
    this.#key = error === TsigError.BADKEY || error === TsigError.BADSIG ? undefined : keys.get(keyName)
    this.#before = mac
  }

  sign(message: Buffer, nowMs: number): Buffer {
    const timeSeconds = Math.floor(nowMs / 1000)
    const other = this.#error === TsigError.BADTIME ? time(timeSeconds) : Buffer.alloc(0)
    const mac = this.#key ? this.#digest(this.#key, message, timeSeconds, other) : Buffer.alloc(0)
    this.#before = mac
    this.#isFirst = false
    const data = Buffer.concat([
      wireOf(TSIG_ALGORITHM),
      time(timeSeconds),
      uint16s(FUDGE_SECONDS, mac.length),
      mac,
      message.subarray(0, 2),
      uint16s(this.#error, other.length),
      other,
    ])
    const signed = Buffer.concat([
      message,
      wireOf(this.#keyName),
      uint16s(Type.TSIG, Class.ANY),
      longs(0),
      uint16s(data.length),
      data,
    ])
    signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10)
    return signed
  }

  /** Returns the signature of the last message. */
  get mac(): Buffer | undefined {
    return this.#before
  }

  #digest(key: Buffer, message: Buffer, timeSeconds: number, other: Buffer): Buffer {
    const hmac = createHmac('sha256', key)
    if (this.#before) hmac.update(uint16s(this.#before.length)).update(this.#before)
    hmac.update(message)
    if (this.#isFirst) hmac.update(variables(this.#keyName, timeSeconds, FUDGE_SECONDS, this.#error, other))
    else hmac.update(time(timeSeconds)).update(uint16s(FUDGE_SECONDS))
    return hmac.digest()
  }
}

function variables(keyName: string, timeSeconds: number, fudge: number, error: number, other: Buffer): Buffer {
  return Buffer.concat([
    wireOf(keyName),
    uint16s(Class.ANY),
    longs(0),
    wireOf(TSIG_ALGORITHM),
    time(timeSeconds),
    uint16s(fudge, error, other.length),
    other,
  ])
}

function time(seconds: number): Buffer {
  const buffer = Buffer.alloc(6)
  buffer.writeUIntBE(seconds, 0, 6)
  return buffer
}
