import type { Socket } from 'node:net'
import type { Connection, ServerChannel, Session, SFTPWrapper } from 'ssh2'
import { SftpChannel } from './channel.ts'
import { ExecChannel } from './exec-channel.ts'
import type { Jail } from './jail.ts'
import type { RemoteCommands } from './remote-commands.ts'
import { Requests } from './requests.ts'
import type { SftpLogin } from './sftp-access.ts'

/** Concurrent sessions of one connection. Clients that share a connection open a few. */
const MOST_SESSIONS = 8
/**
 * The most sessions of a connection that were refused, or that ended without a request. No client has one by mistake.
 */
const MOST_IDLE_SESSIONS = 64
/** Time to send what is on its way to the client. */
const LAST_WORDS_MS = 500

export interface ConnectionOptions {
  readonly client: Connection
  readonly socket: Socket
  readonly login: SftpLogin
  readonly log: { error(facts: object, message: string): void; warn(facts: object, message: string): void }
  /** Undefined without commands. */
  readonly commands: RemoteCommands | undefined
  /** Resolves after the user's access was checked. Undefined when access was lost. */
  readonly admitted: Promise<Jail | undefined>
  /** Called when files of the site have changed. */
  readonly changed: () => void
}

/** A client that has logged in. */
export class SftpConnection {
  readonly login: SftpLogin
  readonly #options: ConnectionOptions
  readonly #channels = new Set<SftpChannel | ExecChannel>()
  /** Open sessions, including those without a request, because each takes memory. */
  readonly #sessions = new Set<Session>()
  #idleSessions = 0
  #activeAt = performance.now()
  #ending: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.login = options.login
    this.#options = options
    const { client, socket } = options
    client.on('session', (accept, reject) => {
      const isFull = this.#sessions.size >= MOST_SESSIONS || this.#channels.size >= MOST_SESSIONS
      if (!isFull && !this.#ending) return this.#open(accept())
      reject()
      if (isFull) this.#countIdle()
    })
    // Port forwarding is not supported.
    client.on('request', (_accept, reject) => reject?.())
    socket.once('close', () => void this.end())
  }

  /** Time since the last request or answer. */
  get idleMs(): number {
    return this.#commands.length > 0 ? 0 : performance.now() - this.#activeAt
  }

  /** Ends the commands of a user who keeps SFTP access but may no longer run commands. */
  async look(): Promise<void> {
    for (const each of this.#commands) await each.look()
  }

  get #commands(): ExecChannel[] {
    return [...this.#channels].filter((each) => each instanceof ExecChannel)
  }

  /** @returns a promise that resolves when nothing of the connection uses a file any longer */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const { client, socket } = this.#options
    const ended = [...this.#channels].map((channel) => channel.end())
    if (!socket.destroyed) {
      client.end()
      setTimeout(() => socket.destroy(), LAST_WORDS_MS).unref()
    }
    await Promise.all(ended)
  }

  #open(session: Session): void {
    this.#sessions.add(session)
    let hasAsked = false
    for (const request of ['shell', 'exec', 'sftp'] as const)
      session.once(request, () => {
        hasAsked = true
      })
    session.once('close', () => {
      this.#sessions.delete(session)
      if (!hasAsked) this.#countIdle()
    })
    this.#serve(session)
  }

  #countIdle(): void {
    if (++this.#idleSessions !== MOST_IDLE_SESSIONS) return
    const { siteId, username } = this.login
    this.#options.log.warn({ siteId, username }, 'an SSH client opens sessions and uses none: its connection is ended')
    void this.end()
  }

  #serve(session: Session): void {
    let columns: number | undefined
    session.on('pty', (accept, _reject, info) => {
      columns = Math.max(20, Math.min(1000, Number(info.cols) || 80))
      accept?.()
    })
    // A session has only one of these (RFC 4254 §6.5). A second one would get no stream.
    let isTaken = false
    const take = <Stream>(accept: () => Stream, reject: () => void, serve: (stream: Stream) => void) => {
      if (isTaken || this.#ending) return reject()
      isTaken = true
      serve(accept())
    }
    session.on('shell', (accept, reject) =>
      take(accept, reject, (stream) => this.#runCommand(session, stream, { line: undefined, columns })),
    )
    session.on('exec', (accept, reject, { command }) =>
      take(accept, reject, (stream) => this.#runCommand(session, stream, { line: command, columns })),
    )
    session.on('sftp', (accept, reject) => take(accept, reject, (stream) => this.#serveFiles(session, stream)))
  }

  #runCommand(
    session: Session,
    stream: ServerChannel,
    asked: { readonly line: string | undefined; readonly columns: number | undefined },
  ): void {
    const { login, commands, admitted, changed, log } = this.#options
    const channel = new ExecChannel(stream, { login, commands, admitted, changed, log, ...asked })
    this.#channels.add(channel)
    const forget = () => {
      this.#channels.delete(channel)
      this.#activeAt = performance.now()
    }
    void channel.ended.then(forget)
    session.once('close', () => void channel.end())
    session.on('signal', (accept) => {
      accept?.()
      void channel.end()
    })
  }

  /** Synchronous, because requests that arrive before the channel is accepted are lost. */
  #serveFiles(session: Session, sftp: SFTPWrapper): void {
    const { socket, changed, log, admitted } = this.#options
    const onActivity = () => {
      this.#activeAt = performance.now()
    }
    const requests = new Requests(changed)
    const entered = admitted.then((jail) => {
      if (jail) requests.enter(jail)
      else void this.end()
    })
    const channel = new SftpChannel(sftp, { socket, requests, entered, onActivity, log })
    this.#channels.add(channel)
    session.once('close', () => {
      void channel.end().then(() => this.#channels.delete(channel))
    })
  }
}
