import type { Client, ClientChannel, SFTPWrapper } from 'ssh2'
import { connectPublic } from '../../../platform/fetch/connect-public.ts'
import { FetchError, FetchRefused } from '../../../platform/fetch/fetch-errors.ts'
import { fingerprintOf } from './fingerprint.ts'
import { OldSiteLost, OldSiteRefused, wordsOfOldMachine } from './old-site.ts'

/** The address of the old machine, and the login there. */
export interface SshLogin {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly secret: { readonly password: string } | { readonly privateKey: string }
  /** `SHA256:…`. Null accepts the first key that the machine shows. */
  readonly hostKey: string | null
}

export interface SshOptions {
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
  /** The longest time without an answer. */
  readonly idleMs: number
  /** Records the host key of a machine that had none. The login waits for it. */
  readonly onHostKey: (fingerprint: string) => Promise<void>
}

const KEEPALIVE_MS = 15_000
/** The most bytes of error output that a command may print. */
const MOST_WORDS_BYTES = 8 << 10

/** An SSH connection to someone else's machine. No operation on it waits forever. */
export class SshConnection {
  readonly place: string
  readonly #client: Client
  readonly #idleMs: number
  readonly #signal: AbortSignal
  readonly #lost = Promise.withResolvers<never>()

  /** @throws OldSiteRefused, OldSiteLost, or the signal's reason */
  static async open(login: SshLogin, options: SshOptions): Promise<SshConnection> {
    const { Client } = (await import('ssh2')).default
    const { host, port } = login
    const { allowPrivate, signal, idleMs } = options
    const sock = await connectPublic(host, port, { allowPrivate, signal, timeoutMs: idleMs }).catch((error) => {
      if (error instanceof FetchRefused) throw new OldSiteRefused(error.message, { cause: error })
      throw error instanceof FetchError ? new OldSiteLost(error.message, { cause: error }) : error
    })
    const connection = new SshConnection(new Client(), `${host}:${port}`, options)
    await connection.#logIn(sock, login, options)
    return connection
  }

  private constructor(client: Client, place: string, { idleMs, signal }: SshOptions) {
    this.#client = client
    this.place = place
    this.#idleMs = idleMs
    this.#signal = signal
    this.#lost.promise.catch(() => {})
    const lose = (error: Error) => this.#lost.reject(error)
    client.on('error', (error) =>
      lose(new OldSiteLost(`${place}: the connection failed: ${wordsOfOldMachine(error.message)}`, { cause: error })),
    )
    client.on('close', () => lose(new OldSiteLost(`${place}: the connection was closed`)))
    signal.addEventListener('abort', this.#end, { once: true })
  }

  async #logIn(sock: NonNullable<Parameters<Client['connect']>[0]['sock']>, login: SshLogin, options: SshOptions) {
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
    const client = this.#client
    const { secret, user } = login
    const password = 'password' in secret ? secret.password : undefined
    client.once('ready', resolve)
    client.once('close', () => reject(new OldSiteLost(`${this.place}: the connection was closed`)))
    client.on('error', (error) => {
      const { level } = error as { level?: string }
      if (level === 'client-authentication') reject(new OldSiteRefused(notAdmitted(this.place, user, password)))
      else reject(new OldSiteLost(`${this.place}: no SSH: ${wordsOfOldMachine(error.message)}`, { cause: error }))
    })
    // Some machines ask for the password only this way.
    client.on('keyboard-interactive', (_name, _words, _language, prompts, finish) =>
      finish(prompts.map(() => password ?? '')),
    )
    const hostVerifier = (key: Buffer, verify: (isTrue: boolean) => void) => {
      this.#verify(fingerprintOf(key), login.hostKey, options).then(
        () => verify(true),
        (error) => {
          reject(error)
          verify(false)
        },
      )
    }
    try {
      client.connect({
        ...{ sock, username: user, hostVerifier, ident: 'Stead', readyTimeout: this.#idleMs },
        ...{ keepaliveInterval: KEEPALIVE_MS, keepaliveCountMax: Math.ceil(this.#idleMs / KEEPALIVE_MS) },
        ...('password' in secret
          ? { password: secret.password, tryKeyboard: true }
          : { privateKey: secret.privateKey }),
      })
      this.#signal.throwIfAborted()
      await ready
    } catch (error) {
      ready.catch(() => {})
      this.#end()
      this.#signal.throwIfAborted()
      throw error
    }
  }

  async #verify(seen: string, known: string | null, { onHostKey }: SshOptions): Promise<void> {
    if (known === null) return onHostKey(seen)
    if (known !== seen)
      throw new OldSiteRefused(
        `${this.place}: its host key is ${seen}, and not ${known}. Nothing was sent to it. If the machine has a new key, create the import again`,
      )
  }

  /**
   * Waits for an answer.
   * @throws OldSiteLost when none arrives
   */
  async ask<Answer>(start: (done: (error: Error | null | undefined, answer: Answer) => void) => void): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const giveUp = () => reject(new OldSiteLost(`${this.place}: the old machine did not answer in time`))
    const timer = setTimeout(giveUp, this.#idleMs)
    try {
      this.#begin(() => start((error, answer) => (error ? reject(error) : resolve(answer))))
      return await Promise.race([promise, this.#lost.promise])
    } catch (error) {
      this.#signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      promise.catch(() => {})
    }
  }

  /** Starts a request. On a closed connection, a request throws at once. */
  #begin(start: () => void): void {
    try {
      start()
    } catch (error) {
      throw new OldSiteLost(`${this.place}: the connection was closed`, { cause: error })
    }
  }

  sftp(): Promise<SFTPWrapper> {
    return this.ask<SFTPWrapper>((done) => this.#client.sftp(done)).catch((error) => {
      if (error instanceof OldSiteLost) throw error
      throw new OldSiteRefused(`${this.place}: the old machine has no SFTP: ${wordsOfOldMachine(error.message)}`)
    })
  }

  /**
   * Runs a command, sends it `input`, and yields its output. Throws unless it exits with 0.
   * @throws CommandFailed, OldSiteLost
   */
  async *run(line: string, input: string, idleMs: number): AsyncGenerator<Buffer> {
    const words: Buffer[] = []
    let wordBytes = 0
    let code: number | null = null
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    // Synchronously: a quick command ends before a promise continues.
    const watch = (channel: ClientChannel) => {
      channel.on('exit', (given: number | null) => {
        code = given
      })
      channel.once('close', () => close())
      channel.on('error', () => {})
      channel.stderr.on('error', () => {})
      channel.stderr.on('data', (piece: Buffer) => {
        if (wordBytes < MOST_WORDS_BYTES) words.push(piece.subarray(0, MOST_WORDS_BYTES - wordBytes))
        wordBytes += piece.length
      })
    }
    const channel = await this.ask<ClientChannel>((done) =>
      this.#client.exec(line, (error, opened) => {
        if (!error) watch(opened)
        done(error, opened)
      }),
    ).catch((error) => {
      throw error instanceof OldSiteLost ? error : new CommandFailed(wordsOfOldMachine(error.message), { cause: error })
    })
    channel.end(input)
    try {
      const pieces = channel[Symbol.asyncIterator]()
      for (;;) {
        const next = await this.#within(pieces.next(), idleMs)
        if (next.done) break
        yield next.value as Buffer
      }
      await this.#within(closed, idleMs)
    } finally {
      channel.destroy()
    }
    if (code !== 0) throw new CommandFailed(wordsOfOldMachine(Buffer.concat(words).toString()) || 'it ended early')
  }

  async #within<Result>(work: Promise<Result>, idleMs: number): Promise<Result> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const giveUp = () => reject(new OldSiteLost(`${this.place}: the old machine did not answer in time`))
    const timer = setTimeout(giveUp, idleMs)
    work.catch(() => {})
    try {
      return await Promise.race([work, late, this.#lost.promise])
    } catch (error) {
      this.#signal.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  throwIfAborted(): void {
    this.#signal.throwIfAborted()
  }

  close(): void {
    this.#end()
  }

  readonly #end = (): void => {
    this.#signal.removeEventListener('abort', this.#end)
    this.#client.end()
    this.#client.destroy()
  }
}

/** A command on the old machine failed. The message is its error output. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
}

const notAdmitted = (place: string, user: string, password: string | undefined): string =>
  `${place}: the old machine does not admit ${wordsOfOldMachine(user, 100)} with this ${password === undefined ? 'key' : 'password'}. Check the user and the ${password === undefined ? 'key: its public half must be allowed there' : 'password'}`
