/**
 * Checks passwords of `AuthUserFile`: bcrypt, Apache's own MD5, and SHA-1, as `htpasswd` writes them.
 *
 * A site chooses how expensive its hashes are, and a visitor how often they are tried. So only one check runs at a
 * time, in pieces that let other work run in between. A correct password is remembered for a while, and the queue is
 * short.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { bcrypt, bcryptParts } from './bcrypt.ts'

/** Too many checks are already waiting. */
export class TooManyPasswords extends Error {
  override readonly name = 'TooManyPasswords'
}

/** Cost 12 takes a second of work. The default of `htpasswd` is 5, and that of WordPress is 10. */
const MOST_COST = 12
const MOST_WAITING = 20
/** The limit for one site, so that visitors of other sites get a turn. */
const MOST_WAITING_OF_SITE = 5
const KEPT_MS = 300_000

const tag = randomBytes(16)

/** Checks one hash at a time. */
export class FolderPasswords {
  readonly #right = new LRUCache<string, true>({ max: 2_000, ttl: KEPT_MS })
  #waiting = 0
  readonly #ofSites = new Map<number, number>()
  #last: Promise<unknown> = Promise.resolve()

  /** @throws TooManyPasswords */
  async isRight(siteId: number, password: string, hash: string): Promise<boolean> {
    const key = createHash('sha256')
      .update(tag)
      .update(JSON.stringify([siteId, password, hash]))
      .digest('base64')
    if (this.#right.has(key)) return true
    const ofSite = this.#ofSites.get(siteId) ?? 0
    if (this.#waiting >= MOST_WAITING || ofSite >= MOST_WAITING_OF_SITE)
      throw new TooManyPasswords('too many passwords wait')
    this.#waiting++
    this.#ofSites.set(siteId, ofSite + 1)
    const tried = this.#last.then(() => check(password, hash))
    this.#last = tried.catch(() => {})
    try {
      const isRight = await tried
      if (isRight) this.#right.set(key, true)
      return isRight
    } finally {
      this.#waiting--
      const left = (this.#ofSites.get(siteId) as number) - 1
      if (left === 0) this.#ofSites.delete(siteId)
      else this.#ofSites.set(siteId, left)
    }
  }
}

/** Returns whether the format of a hash is supported. */
export const isSupported = (hash: string): boolean =>
  /^\{SHA\}[A-Za-z0-9+/=]{28}$|^\$apr1\$[^$]{1,8}\$[./0-9A-Za-z]{22}$/.test(hash) ||
  (bcryptParts(hash)?.cost ?? 99) <= MOST_COST

async function check(password: string, hash: string): Promise<boolean> {
  if (!isSupported(hash)) return false
  if (hash.startsWith('{SHA}')) return isSame(`{SHA}${createHash('sha1').update(password).digest('base64')}`, hash)
  if (hash.startsWith('$apr1$')) return isSame(apr1(password, hash.split('$')[2] as string), hash)
  // Leaves half of the time for other work.
  const breathe = () => sleep(4)
  return isSame(await bcrypt(password, hash, breathe), hash)
}

const isSame = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

const LETTERS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const md5 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Hashes a password with Apache's variant of FreeBSD's MD5 passwords: a thousand rounds. */
export function apr1(text: string, salt: string): string {
  const password = Buffer.from(text).subarray(0, 255)
  const inner = md5(password, salt, password)
  const first: Buffer[] = [password, Buffer.from('$apr1$'), Buffer.from(salt)]
  for (let left = password.length; left > 0; left -= 16) first.push(inner.subarray(0, Math.min(16, left)))
  for (let bits = password.length; bits > 0; bits >>= 1)
    first.push(bits & 1 ? Buffer.from([0]) : password.subarray(0, 1))
  let sum = md5(...first)
  for (let round = 0; round < 1000; round++) {
    const parts: (Buffer | string)[] = [round & 1 ? password : sum]
    if (round % 3) parts.push(salt)
    if (round % 7) parts.push(password)
    parts.push(round & 1 ? sum : password)
    sum = md5(...parts)
  }
  const byte = (index: number) => sum[index] as number
  let out = ''
  const letters = (value: number, count: number) => {
    for (let i = 0, rest = value; i < count; i++, rest >>= 6) out += LETTERS[rest & 63]
  }
  for (const [a, b, c] of [
    [0, 6, 12],
    [1, 7, 13],
    [2, 8, 14],
    [3, 9, 15],
    [4, 10, 5],
  ] as const)
    letters((byte(a) << 16) | (byte(b) << 8) | byte(c), 4)
  letters(byte(11), 2)
  return `$apr1$${salt}$${out}`
}

/**
 * Parses lines of `user:hash`.
 * @returns the hash of a user
 */
export function hashOf(file: string, user: string): string | undefined {
  for (const line of file.split(/\r?\n/)) {
    const at = line.indexOf(':')
    if (at > 0 && line.slice(0, at) === user)
      return line
        .slice(at + 1)
        .split(':', 1)[0]
        ?.trim()
  }
  return undefined
}
