import { endOfLabel, labelsOf, nameOfLabels, wireOf } from '../wire/name.ts'
import { Type } from '../wire/protocol.ts'
import type { RecordSet } from '../wire/record-data.ts'

const LONGEST_NAME = 255

/**
 * Returns the record that lists the types of a name, and reveals no other names (RFC 9824, compact denial of
 * existence).
 * @param types the types of the name's sets; undefined if the name does not exist
 */
export function compactNsec(name: string, types: readonly number[] | undefined, ttl: number): RecordSet {
  return nsec(successorOf(name), [...(types ?? [Type.NXNAME]), Type.RRSIG, Type.NSEC], ttl)
}

/** @param next the next name in the order of the zone */
export function nsec(next: string, types: readonly number[], ttl: number): RecordSet {
  return { type: Type.NSEC, ttl, data: [[Buffer.concat([wireOf(next), bitmapOf(types)])]], targets: [] }
}

/** Returns the first name after a name. */
export function successorOf(name: string): string {
  if (wireOf(name).length + 2 <= LONGEST_NAME) return `\0.${name}`
  // A label in front would make the name too long, so use the next sibling.
  const [first = '', ...rest] = labelsOf(name)
  for (let end = first.length; end > 0; end--) {
    const last = first.charCodeAt(end - 1)
    if (last < 0xff) return nameOfLabels([first.slice(0, end - 1) + String.fromCharCode(last + 1), ...rest])
  }
  return successorOf(name.slice(endOfLabel(name) + 1))
}

/** Returns the type bitmap (RFC 4034 §4.1.2). */
function bitmapOf(types: readonly number[]): Buffer {
  const windows = new Map<number, Buffer>()
  for (const type of types) {
    const bits = windows.get(type >> 8) ?? Buffer.alloc(32)
    windows.set(type >> 8, bits)
    const low = type & 255
    bits[low >> 3] = (bits[low >> 3] as number) | (0x80 >> (low & 7))
  }
  const parts = [...windows]
    .sort(([a], [b]) => a - b)
    .map(([window, bits]) => {
      let length = bits.length
      while (bits[length - 1] === 0) length--
      return Buffer.concat([Buffer.from([window, length]), bits.subarray(0, length)])
    })
  return Buffer.concat(parts)
}
