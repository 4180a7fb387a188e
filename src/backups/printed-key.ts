import { createHash, hkdfSync } from 'node:crypto'

/** Crockford's base32, without letters that look like others. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const KEY_BYTES = 32
const SUM_BYTES = 4

const sumOf = (key: Buffer): Buffer =>
  createHash('sha256').update('stead key of backups').update(key).digest().subarray(0, SUM_BYTES)

/** Returns the key for printing: groups of letters and digits, the last of which detect typing errors. */
export function printKey(key: Buffer): string {
  const bits = [...Buffer.concat([key, sumOf(key)])].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const letters = bits.match(/.{1,5}/g)?.map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)]) ?? []
  return (
    letters
      .join('')
      .match(/.{1,4}/g)
      ?.join('-') ?? ''
  )
}

/**
 * Parses a printed key, in upper or lower case, with any dashes and spaces.
 * @throws Error that explains the fault
 */
export function parsePrintedKey(text: string): Buffer {
  const letters = text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')
  const length = Math.ceil(((KEY_BYTES + SUM_BYTES) * 8) / 5)
  if (letters.length !== length)
    throw new Error(`A backup key has ${length} letters and digits, but this one has ${letters.length}.`)
  const values = [...letters].map((letter) => ALPHABET.indexOf(letter))
  if (values.includes(-1)) throw new Error('A backup key contains only digits and letters except U.')
  const bits = values.map((value) => value.toString(2).padStart(5, '0')).join('')
  const bytes = Buffer.from(
    Array.from({ length: KEY_BYTES + SUM_BYTES }, (_, at) => Number.parseInt(bits.slice(8 * at, 8 * at + 8), 2)),
  )
  const key = bytes.subarray(0, KEY_BYTES)
  if (!sumOf(key).equals(bytes.subarray(KEY_BYTES)))
    throw new Error('This is not a backup key: at least one letter is wrong.')
  return key
}

/** Returns a mark that identifies a key without revealing it. */
export const markOfBackupKey = (key: Buffer): string =>
  Buffer.from(hkdfSync('sha256', key, '', 'stead mark of the key of backups', 16)).toString('hex')
