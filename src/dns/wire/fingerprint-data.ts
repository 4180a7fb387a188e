/* SSHFP (RFC 4255) and TLSA (RFC 6698): small numbers, followed by a fingerprint in hex. */

interface Shape {
  readonly numbers: number
  readonly example: string
  /** The number of bytes of a fingerprint, by the last of the numbers. Others may have any length. */
  readonly lengths: Readonly<Record<number, number>>
}

const shapes = {
  SSHFP: { numbers: 2, example: '4 2 <SHA-256 in hex>', lengths: { 1: 20, 2: 32 } },
  TLSA: { numbers: 3, example: '3 1 1 <SHA-256 in hex>', lengths: { 1: 32, 2: 64 } },
} as const satisfies Record<string, Shape>

export type FingerprintType = keyof typeof shapes

/**
 * Parses a value. The hex may be in pieces.
 * @throws RangeError that states what is wrong
 */
export function readFingerprint(type: FingerprintType, value: string): { numbers: number[]; bytes: Buffer } {
  const shape: Shape = shapes[type]
  const parts = value.trim().split(/\s+/)
  const numbers = parts.slice(0, shape.numbers).map((each) => (/^\d{1,3}$/.test(each) ? Number(each) : Number.NaN))
  const hex = parts.slice(shape.numbers).join('')
  if (numbers.length < shape.numbers || !numbers.every((each) => each <= 255) || !/^(?:[0-9a-f]{2})+$/i.test(hex))
    throw new RangeError(`must look like: ${shape.example}`)
  const length = shape.lengths[numbers.at(-1) as number]
  if (length !== undefined && hex.length !== length * 2)
    throw new RangeError(`must have a fingerprint of ${length * 2} hex digits, and has ${hex.length}`)
  return { numbers, bytes: Buffer.from(hex, 'hex') }
}
