import type { Socket } from 'node:net'
import type { Connection, ServerChannel, Session, SFTPWrapper } from 'ssh2'
import { SftpChannel } from './channel.ts'
import type { Jail } from './jail.ts'
import { Requests } from './requests.ts'
import type { SftpLogin } from './sftp-access.ts'

/** Of one connection, at once: clients that share a connection open a few. */
const MOST_CHANNELS = 8
/** For what is on its way to the client. */
const LAST_WORDS_MS = 500

export const ONLY_SFTP =
  'This service is for files only: use SFTP (sftp, scp of OpenSSH 9 or newer, FileZilla, WinSCP, rclone, sshfs). There is no shell.\r\n'

export interface ConnectionOptions {
  readonly client: Connection
  readonly socket: Socket
  readonly login: SftpLogin
  readonly log: { error(facts: object, message: string): void }
  /** Resolves when it is certain that the user may be here. @returns undefined: no more */
  readonly admitted: Promise<Jail | undefined>
  /** Files of the site were changed. */
  readonly changed: () => void
}

/** A client that has logged in. */
export class SftpConnection {
  readonly login: SftpLogin
  readonly #options: ConnectionOptions
  readonly #channels = new Set<SftpChannel>()
  #activeAt = performance.now()
  #ending: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.login = options.login
    this.#options = options
    const { client, socket } = options
    client.on('session', (accept, reject) => {
      if (this.#channels.size >= MOST_CHANNELS || this.#ending) return reject()
      this.#serve(accept())
    })
    // ports are forwarded for nobody
    client.on('request', (_accept, reject) => reject?.())
    socket.once('close', () => void this.end())
  }

  /** Since somebody asked for something, or got it. */
  get idleMs(): number {
    return performance.now() - this.#activeAt
  }

  /** @returns when nothing of it touches a file any more */
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

  #serve(session: Session): void {
    const refuse = (accept: (() => ServerChannel) | undefined) => {
      const stream = accept?.()
      stream?.stderr.write(ONLY_SFTP)
      stream?.exit(1)
      stream?.end()
    }
    session.on('shell', refuse)
    session.on('exec', refuse)
    // who asks for a shell is told of it then
    session.on('pty', (accept) => accept?.())
    session.on('sftp', (accept) => this.#serveFiles(session, accept()))
  }

  /** At once: what a client says before its channel is accepted is lost. */
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
