import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { problems } from '../problems.ts'

/** NIST SP 800-63B §5.1.1.2 requires at least 8, and no rules about kinds of characters. */
export const SHORTEST_PASSWORD = 10
export const LONGEST_PASSWORD = 256

/** OWASP's minimum for argon2id. 141 ms were measured on a slow core. */
const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
export const BYTES_OF_HASHING = COST.memory * 1024

const derive = promisify(argon2) as (kind: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>

/** Hashes and verifies passwords (argon2id, RFC 9106), limited by the available memory. */
export class Passwords {
  readonly #budget: Budget
  /** Hash without an account, so that a check without a password takes as long as one with it. */
  #decoy: Promise<string> | undefined

  /** @param budget bytes of memory */
  constructor(budget: Budget) {
    this.#budget = budget
  }

  /**
   * @param address whose budget the memory counts against
   * @throws Problem `too_many_sign_ins`
   */
  async hash(password: string, address: string): Promise<string> {
    return this.#counted(address, () => newHash(password))
  }

  /**
   * @param kept `undefined` if the account has no password
   * @throws Problem `too_many_sign_ins`
   */
  async isRight(password: string, kept: string | undefined, address: string): Promise<boolean> {
    return this.#counted(address, async () => {
      this.#decoy ??= newHash(randomBytes(16).toString('base64'))
      const same = await isSame(password, kept ?? (await this.#decoy))
      return same && kept !== undefined
    })
  }

  async #counted<Result>(address: string, work: () => Promise<Result>): Promise<Result> {
    if (!this.#budget.take(address, BYTES_OF_HASHING))
      throw new Problem(problems.too_many_sign_ins, {}, { headers: { 'retry-after': '2' } })
    try {
      return await work()
    } finally {
      this.#budget.give(address, BYTES_OF_HASHING)
    }
  }
}

/** Returns a hash in the PHC string format, which other programs also use. */
async function newHash(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const { memory, passes, parallelism } = COST
  const key = await derive('argon2id', { message: normal(password), nonce, ...COST })
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${plain64(nonce)}$${plain64(key)}`
}

async function isSame(password: string, kept: string): Promise<boolean> {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(kept)
  if (!parts) throw new Error('A kept password has an unknown form')
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number]
  const [nonce, key] = parts.slice(4).map((each) => Buffer.from(each, 'base64')) as [Buffer, Buffer]
  const cost = { memory, passes, parallelism, tagLength: key.length }
  return timingSafeEqual(await derive('argon2id', { message: normal(password), nonce, ...cost }), key)
}

/** Normalizes a password, because keyboards encode the same letter in different ways (NIST SP 800-63B §5.1.1.2). */
const normal = (password: string): string => password.normalize('NFKC')

const plain64 = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
