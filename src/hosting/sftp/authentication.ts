import { timingSafeEqual } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import ssh2, { type AuthContext } from 'ssh2'
import { isPassword, noPassword } from '../../platform/crypto/password.ts'
import type { Guessers } from './guessers.ts'
import type { SftpAccess, SftpLogin } from './sftp-access.ts'

/** Passwords that are compared at once, each with about 4 MB and 10 ms of CPU time, and passwords that wait. */
const MOST_COMPARED = 2
const MOST_WAITING = 32
const MOST_PASSWORD = 1024
/** Limits per connection: wrong passwords, and questions whether a key would be accepted. */
const MOST_PASSWORDS = 6
const MOST_QUESTIONS = 30

type Log = { info(facts: object, message: string): void; warn(facts: object, message: string): void }

/** Compares passwords, a few at a time. */
export class PasswordDesk {
  #busy = 0
  readonly #waiting: (() => void)[] = []

  /** @returns undefined when too many are waiting */
  async compare(password: string, hash: string): Promise<boolean | undefined> {
    if (this.#busy >= MOST_COMPARED) {
      if (this.#waiting.length >= MOST_WAITING) return undefined
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#busy++
    try {
      return await isPassword(password, hash)
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#busy--
    }
  }
}

export interface AuthenticationOptions {
  readonly access: SftpAccess
  readonly guessers: Guessers
  readonly desk: PasswordDesk
  readonly address: string
  readonly log: Log
  /** Called for a wrong password or signature. */
  readonly refused: () => void
  /** Ends the connection. */
  readonly cutOff: () => void
}

/**
 * Authenticates one connection. Unknown users are rejected in the same way and after the same time as known ones, so
 * that nobody learns which users exist.
 */
export class Authentication {
  readonly #options: AuthenticationOptions
  #passwords = 0
  #questions = 0
  login: SftpLogin | undefined

  constructor(options: AuthenticationOptions) {
    this.#options = options
  }

  async decide(context: AuthContext): Promise<void> {
    const { log, cutOff } = this.#options
    try {
      if (context.method === 'password') await this.#byPassword(context.username, context.password, context)
      else if (context.method === 'publickey') await this.#byKey(context)
      else context.reject(['publickey', 'password'])
    } catch (error) {
      log.warn({ err: error }, 'an SFTP log-in could not be decided')
      cutOff()
    }
  }

  async #byPassword(username: string, password: string, context: AuthContext): Promise<void> {
    const { access, desk, cutOff } = this.#options
    const login = await access.find(username)
    const text = password.length > MOST_PASSWORD ? '' : password
    const isRight = await desk.compare(text, login?.passwordHash ?? noPassword)
    if (isRight && login) return this.#accept(login, context)
    // An overloaded host says nothing about the password.
    if (isRight !== undefined) await this.#refuse(username)
    if (++this.#passwords >= MOST_PASSWORDS) cutOff()
    else context.reject(['publickey', 'password'])
  }

  async #byKey(context: Extract<AuthContext, { method: 'publickey' }>): Promise<void> {
    const { access, cutOff } = this.#options
    if (++this.#questions > MOST_QUESTIONS) return cutOff()
    const login = await access.find(context.username)
    const isKnown = (login?.publicKeys ?? []).some((known) => isSame(Buffer.from(known, 'base64'), context.key.data))
    if (!login || !isKnown) return context.reject(['publickey', 'password'])
    // The client only asks whether the key would be accepted.
    if (!context.signature || !context.blob) return context.accept()
    const key = ssh2.utils.parseKey(context.key.data)
    const isSigned = !(key instanceof Error) && key.verify(context.blob, context.signature, context.hashAlgo) === true
    if (isSigned) return this.#accept(login, context)
    await this.#refuse(context.username)
    context.reject(['publickey', 'password'])
  }

  #accept(login: SftpLogin, context: AuthContext): void {
    this.login = login
    this.#options.guessers.succeeded(this.#options.address)
    context.accept()
  }

  async #refuse(username: string): Promise<void> {
    const { guessers, address, log, refused } = this.#options
    refused()
    const { delayMs, isBanned } = guessers.failed(address)
    const facts = { address, username: username.slice(0, 100) }
    if (isBanned) log.warn(facts, 'an address that guesses SFTP passwords is not let in for a while')
    else log.info(facts, 'an SFTP log-in was refused')
    await pause(delayMs)
  }
}

const isSame = (left: Buffer, right: Buffer): boolean => left.length === right.length && timingSafeEqual(left, right)
