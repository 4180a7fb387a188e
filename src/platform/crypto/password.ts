import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

type Cost = { readonly N: number; readonly r: number; readonly p: number }
const derive = promisify<string, Buffer, number, Cost, Buffer>(scrypt)

/** The passwords are random, with 144 bits. This costs 4 MB and about 10 ms. */
const COST: Cost = { N: 4096, r: 8, p: 1 }
/** The upper limit of a comparison, whatever the database contains. */
const MOST_N = 65_536
const BYTES = 32

/** Returns `scrypt$N$r$p$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await derive(password, salt, BYTES, COST)
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join('$')
}

/** A hash that no password has. A comparison with it takes as long as with any other. */
export const noPassword = ['scrypt', COST.N, COST.r, COST.p, 'AAAAAAAAAAAAAAAAAAAAAA', ''].join('$')

/** @returns false for an invalid hash, or one that costs more than any of Stead's */
export async function isPassword(password: string, stored: string): Promise<boolean> {
  const [kind, n, r, p, salt = '', expected = ''] = stored.split('$')
  const cost = { N: Number(n), r: Number(r), p: Number(p) }
  const isBounded = cost.N >= 2 && cost.N <= MOST_N && cost.r === COST.r && cost.p === COST.p
  if (kind !== 'scrypt' || !isBounded || (cost.N & (cost.N - 1)) !== 0) return false
  const hash = await derive(password, Buffer.from(salt, 'base64url'), BYTES, cost)
  const wanted = Buffer.from(expected, 'base64url')
  return timingSafeEqual(hash, wanted.length === BYTES ? wanted : Buffer.alloc(BYTES)) && wanted.length === BYTES
}
