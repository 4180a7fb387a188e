/** bcrypt, which Node lacks. Its tables are the digits of pi, computed when the first password is checked. */

/** The first 1,042 words of the fraction of pi. */
let digits: Uint32Array | undefined
/** The number of terms of the series between two pauses for other work. */
const TERMS = 100

async function digitsOfPi(breathe: () => Promise<unknown>): Promise<Uint32Array> {
  if (digits) return digits
  const bits = 1042n * 32n
  const scale = 1n << (bits + 64n)
  const arctan = async (of: bigint): Promise<bigint> => {
    let sum = 0n
    let power = scale / of
    for (let n = 1n, sign = 1n; power !== 0n; n += 2n, sign = -sign) {
      sum += (sign * power) / n
      power /= of * of
      if (n % BigInt(2 * TERMS) === 1n) await breathe()
    }
    return sum
  }
  // Machin's formula.
  const pi = 4n * (4n * (await arctan(5n)) - (await arctan(239n)))
  const fraction = (pi - 3n * scale) >> 64n
  const hex = fraction.toString(16).padStart(1042 * 8, '0')
  digits = Uint32Array.from({ length: 1042 }, (_, i) => Number.parseInt(hex.slice(i * 8, i * 8 + 8), 16))
  return digits
}

const LETTERS = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** @returns undefined for text that is not a bcrypt hash */
export function bcryptParts(hash: string): { cost: number; salt: string; prefix: string } | undefined {
  const match = /^(\$2[aby]\$(\d\d)\$)([./A-Za-z0-9]{22})[./A-Za-z0-9]{31}$/.exec(hash)
  if (!match) return undefined
  const cost = Number(match[2])
  return cost < 4 || cost > 31 ? undefined : { cost, salt: match[3] as string, prefix: match[1] as string }
}

function decode(text: string, length: number): Uint8Array {
  const out = new Uint8Array(length)
  let bits = 0
  let held = 0
  let at = 0
  for (const letter of text) {
    bits = (bits << 6) | LETTERS.indexOf(letter)
    held += 6
    if (held < 8) continue
    held -= 8
    if (at < length) out[at++] = (bits >> held) & 255
    bits &= (1 << held) - 1
  }
  return out
}

function encode(bytes: Uint8Array): string {
  let out = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    held += 8
    while (held >= 6) {
      held -= 6
      out += LETTERS[(bits >> held) & 63]
    }
    bits &= (1 << held) - 1
  }
  return held > 0 ? out + LETTERS[(bits << (6 - held)) & 63] : out
}

class Blowfish {
  readonly #p: Int32Array
  readonly #s: Int32Array
  left = 0
  right = 0

  constructor(pi: Uint32Array) {
    this.#p = Int32Array.from(pi.subarray(0, 18))
    this.#s = Int32Array.from(pi.subarray(18))
  }

  encrypt(): void {
    const p = this.#p
    const s = this.#s
    let l = this.left ^ (p[0] as number)
    let r = this.right
    for (let i = 1; i < 17; i += 2) {
      r ^=
        (((((s[l >>> 24] as number) + (s[256 + ((l >>> 16) & 255)] as number)) | 0) ^
          (s[512 + ((l >>> 8) & 255)] as number)) +
          (s[768 + (l & 255)] as number)) ^
        (p[i] as number)
      l ^=
        (((((s[r >>> 24] as number) + (s[256 + ((r >>> 16) & 255)] as number)) | 0) ^
          (s[512 + ((r >>> 8) & 255)] as number)) +
          (s[768 + (r & 255)] as number)) ^
        (p[i + 1] as number)
    }
    this.left = r ^ (p[17] as number)
    this.right = l
  }

  /** @param salt words that are mixed in, by default zeros */
  expand(key: Int32Array, salt?: Int32Array): void {
    const p = this.#p
    for (let i = 0; i < 18; i++) p[i] = (p[i] as number) ^ (key[i] as number)
    this.left = 0
    this.right = 0
    let at = 0
    for (const table of [p, this.#s])
      for (let i = 0; i < table.length; i += 2) {
        if (salt) {
          this.left ^= salt[at] as number
          this.right ^= salt[at + 1] as number
          at = (at + 2) & 3
        }
        this.encrypt()
        table[i] = this.left
        table[i + 1] = this.right
      }
  }
}

/** Returns this many words of a text that is repeated. */
function wordsOf(bytes: Uint8Array, count: number): Int32Array {
  const out = new Int32Array(count)
  for (let i = 0; i < count * 4; i++) {
    const word = i >> 2
    out[word] = ((out[word] as number) << 8) | (bytes[i % bytes.length] as number)
  }
  return out
}

/** The number of rounds between two pauses for other work. They take 3 ms. */
const PIECE = 32

/**
 * @param like a bcrypt hash, with cost and salt
 * @returns the hash of the password with these
 */
export async function bcrypt(password: string, like: string, breathe: () => Promise<unknown>): Promise<string> {
  const { cost, salt, prefix } = bcryptParts(like) as NonNullable<ReturnType<typeof bcryptParts>>
  const saltBytes = decode(salt, 16)
  const key = wordsOf(Buffer.concat([Buffer.from(password), Buffer.from([0])]).subarray(0, 72), 18)
  const saltKey = wordsOf(saltBytes, 18)
  const cipher = new Blowfish(await digitsOfPi(breathe))
  cipher.expand(key, wordsOf(saltBytes, 4))
  for (let round = 0; round < 2 ** cost; round++) {
    if (round % PIECE === PIECE - 1) await breathe()
    cipher.expand(key)
    cipher.expand(saltKey)
  }
  const text = wordsOf(Buffer.from('OrpheanBeholderScryDoubt'), 6)
  const out = Buffer.alloc(24)
  for (let i = 0; i < 6; i += 2) {
    cipher.left = text[i] as number
    cipher.right = text[i + 1] as number
    for (let n = 0; n < 64; n++) cipher.encrypt()
    out.writeInt32BE(cipher.left, i * 4)
    out.writeInt32BE(cipher.right, i * 4 + 4)
  }
  return `${prefix}${salt}${encode(out.subarray(0, 23))}`
}
