/*
 * The part of ASN.1's DER (X.690) that a certificate needs. A library for all of it costs each edge process 18 MB, and
 * 85 ms in which it serves no visitor.
 */

/** Encodes one value: its tag, its length, and its content. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const bytes = body.length < 0x100 ? [body.length] : [body.length >> 8, body.length & 0xff]
  // From 128 on, the length is preceded by its own length.
  const length = body.length < 0x80 ? bytes : [0x80 | bytes.length, ...bytes]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

export const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts)
export const setOf = (...parts: readonly Buffer[]): Buffer => der(0x31, ...parts)
export const yes = der(0x01, Buffer.from([0xff]))
/** @param bytes the bytes of a non-negative number, in the shortest form */
export const derInteger = (...bytes: readonly number[]): Buffer => der(0x02, Buffer.from(bytes))
export const octets = (bytes: Buffer): Buffer => der(0x04, bytes)
export const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text))

/** @param unused the number of bits at the end that do not count */
export const bits = (bytes: Buffer, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes)

/** @param dotted such as `1.2.840.10045.4.3.2` */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** Encodes seven bits per byte. All but the last byte have the continuation bit. */
function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}

/**
 * Encodes a time (RFC 5280 §4.1.2.5): two digits of the year until 2049, four from then on.
 * @param ms UTC
 */
export function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+Z$|[-T:]/g, '')
  const isLate = digits >= '2050'
  return der(isLate ? 0x18 : 0x17, Buffer.from(`${isLate ? digits : digits.slice(2)}Z`))
}
