import { createServer, type Server, type Socket } from 'node:net'
import ssh2, { type AlgorithmList, type CipherAlgorithm, type ClientInfo, type Connection } from 'ssh2'
import { addressKey } from '../../platform/budgets/address-key.ts'
import { peerAddress } from '../../platform/http/client/client-address.ts'
import { readProxyHeaders } from '../../platform/http/client/proxy-protocol.ts'
import type { DiskQuota } from '../site-files/disk-watch.ts'
import { Authentication, PasswordDesk } from './authentication.ts'
import { GCM, IDENT, knowsGcm, readyKeys } from './cipher.ts'
import { Guessers } from './guessers.ts'
import { Jail } from './jail.ts'
import type { RemoteCommands } from './remote-commands.ts'
import type { SftpAccess, SftpLogin } from './sftp-access.ts'
import { SftpConnection } from './sftp-connection.ts'
import { WriteRoom } from './write-room.ts'

/** A site's files. */
export interface FilesOfSite {
  readonly siteDirectory: string
  readonly corePath: string
  readonly uid: number | null
}

export interface SftpServerOptions {
  readonly hostKey: string
  readonly access: SftpAccess
  readonly siteById: (siteId: number) => Promise<FilesOfSite | undefined>
  readonly quotaOf: (siteDirectory: string) => Promise<DiskQuota | undefined>
  readonly keepFreeBytes: number
  /** Default: no commands. */
  readonly commands?: RemoteCommands
  /** Called once per burst of changes to a site's files. */
  readonly changed: (siteId: number) => void
  readonly log: {
    info(facts: object, message: string): void
    warn(facts: object, message: string): void
    error(facts: object, message: string): void
  }
  /** Whether an address may name the clients of its connections (PROXY protocol). Default: no address may. */
  readonly isBalancer?: (address: string) => boolean
  readonly limits?: Partial<SftpLimits>
}

export interface SftpLimits {
  readonly connections: number
  /** Connections before login, in total and per address. */
  readonly strangers: number
  readonly strangersOfAddress: number
  readonly ofUser: number
  readonly loginMs: number
  readonly idleMs: number
  /** Changes within this time are reported together. */
  readonly burstMs: number
}

export const sftpLimits: SftpLimits = {
  connections: 512,
  strangers: 128,
  strangersOfAddress: 32,
  ofUser: 40,
  loginMs: 30_000,
  idleMs: 1_800_000,
  burstMs: 1000,
}

/** Counts since the server started. */
export interface SftpMetrics {
  /** Clients that are logged in now. */
  readonly connections: number
  readonly logins: number
  /** Refused connections, by reason: too many, or a banned address. `login` counts wrong passwords and keys. */
  readonly refused: { readonly limit: number; readonly banned: number; readonly login: number }
}

/** How often to check who may stay connected, in case a notification was lost. */
const LOOK_MS = 5000

interface Stranger {
  readonly socket: Socket
  readonly key: string
  readonly timer: NodeJS.Timeout
}

/** The SFTP server of a host. */
export class SftpServer {
  /** The caller makes it listen. */
  readonly server: Server
  readonly #options: SftpServerOptions
  readonly #limits: SftpLimits
  readonly #guessers = new Guessers()
  readonly #desk = new PasswordDesk()
  /** One server for clients with AES-GCM, one for others. */
  readonly #ssh: Record<'gcm' | 'any', InstanceType<typeof ssh2.Server>>
  readonly #sockets = new Map<string, Socket>()
  readonly #strangers = new Map<Socket, Stranger>()
  readonly #connections = new Set<SftpConnection>()
  readonly #rooms = new Map<number, WriteRoom>()
  readonly #bursts = new Map<number, NodeJS.Timeout>()
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void
  readonly #endSilent: () => void
  #looking: Promise<void> | undefined
  #looksAgain = false
  #logins = 0
  readonly #refused = { limit: 0, banned: 0, login: 0 }

  constructor(options: SftpServerOptions) {
    this.#options = options
    this.#limits = { ...sftpLimits, ...options.limits }
    // OpenSSH's first choice is the slowest cipher in Node's crypto.
    const any = { remove: ['chacha20-poly1305@openssh.com' as const], append: [], prepend: [] }
    this.#ssh = { gcm: this.#speaking([...GCM]), any: this.#speaking(any) }
    this.server = createServer((socket) => this.#meet(socket))
    this.#endSilent = readProxyHeaders(this.server, {
      isBalancer: options.isBalancer ?? (() => false),
      timeoutMs: this.#limits.loginMs,
    })
    this.#timer = setInterval(() => this.#lookAtAll(), LOOK_MS).unref()
    this.#unsubscribe = options.access.subscribe(() => void this.look())
  }

  get connections(): number {
    return this.#connections.size
  }

  metrics(): SftpMetrics {
    return { connections: this.#connections.size, logins: this.#logins, refused: { ...this.#refused } }
  }

  /** Ends all connections of a site. @returns their number, once nothing of them uses a file any longer */
  async endOfSite(siteId: number): Promise<number> {
    const ended = [...this.#connections].filter(({ login }) => login.siteId === siteId)
    await Promise.all(ended.map((each) => each.end()))
    return ended.length
  }

  /** Ends the connections of users who have lost access. */
  look(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve()
    this.#looksAgain = this.#looking !== undefined
    this.#looking ??= this.#look()
      .catch((error) => this.#options.log.warn({ err: error }, 'it could not be looked who may use SFTP'))
      .finally(() => {
        this.#looking = undefined
        if (this.#looksAgain) void this.look()
      })
    return this.#looking
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#unsubscribe()
    this.server.close()
    this.#endSilent()
    await Promise.all([...this.#connections].map((each) => each.end()))
    for (const socket of this.#sockets.values()) socket.destroy()
    for (const [siteId, timer] of this.#bursts) {
      clearTimeout(timer)
      this.#options.changed(siteId)
    }
    this.#bursts.clear()
  }

  /** Handles a new connection before its first message. */
  #meet(socket: Socket): void {
    const { remoteAddress = '', remotePort } = socket
    const address = peerAddress(socket)
    const key = addressKey(address)
    const limits = this.#limits
    const ofAddress = [...this.#strangers.values()].filter((each) => each.key === key).length
    const isFull =
      this.#sockets.size >= limits.connections ||
      this.#strangers.size >= limits.strangers ||
      ofAddress >= limits.strangersOfAddress
    socket.on('error', () => {})
    const isBanned = this.#guessers.isBanned(address)
    if (isFull || isBanned) this.#refused[isBanned ? 'banned' : 'limit']++
    if (isFull || isBanned || remotePort === undefined) return void socket.destroy()
    const name = nameOf(remoteAddress, remotePort)
    const timer = setTimeout(() => socket.destroy(), limits.loginMs)
    this.#sockets.set(name, socket)
    this.#strangers.set(socket, { socket, key, timer })
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sockets.delete(name)
      this.#strangers.delete(socket)
    })
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 60_000)
    void knowsGcm(socket).then((known) => {
      if (known === undefined) return socket.destroy()
      this.#ssh[known ? 'gcm' : 'any'].injectSocket(socket)
      socket.resume()
    })
  }

  #speaking(cipher: AlgorithmList<CipherAlgorithm>): InstanceType<typeof ssh2.Server> {
    // A small compressed message could expand to any size.
    const algorithms = { compress: ['none' as const], cipher }
    return new ssh2.Server({ hostKeys: [this.#options.hostKey], ident: IDENT, algorithms }, (client, info) =>
      this.#greet(client, info),
    )
  }

  /** Handles a client that speaks SSH. */
  #greet(client: Connection, info: ClientInfo): void {
    const socket = this.#sockets.get(nameOf(info.ip, info.port))
    client.on('error', () => {})
    client.on('handshake', () => readyKeys(client))
    if (!socket) return void client.end()
    const { access, log } = this.#options
    const authentication = new Authentication({
      access,
      log,
      guessers: this.#guessers,
      desk: this.#desk,
      address: peerAddress(socket),
      cutOff: () => socket.destroy(),
      refused: () => void this.#refused.login++,
    })
    client.on('authentication', (context) => void authentication.decide(context))
    client.on('ready', () => this.#welcome(client, socket, authentication.login as SftpLogin))
  }

  /** Handles a client that has authenticated. */
  #welcome(client: Connection, socket: Socket, login: SftpLogin): void {
    const { log, access, commands } = this.#options
    clearTimeout(this.#strangers.get(socket)?.timer)
    this.#strangers.delete(socket)
    const ofUser = [...this.#connections].filter((each) => each.login.userId === login.userId).length
    const facts = { siteId: login.siteId, username: login.username, address: peerAddress(socket) }
    if (ofUser >= this.#limits.ofUser) {
      this.#refused.limit++
      log.info(facts, 'an SFTP user has too many connections')
      return void client.end()
    }
    const changed = () => this.#tell(login.siteId)
    // Added before its access is checked, so that closing the site after the check finds it.
    const { promise: admitted, resolve } = Promise.withResolvers<Jail | undefined>()
    const connection = new SftpConnection({ client, socket, login, log, admitted, changed, commands })
    this.#connections.add(connection)
    socket.once('close', () => {
      void connection.end().then(() => this.#forget(connection))
    })
    this.#admit(login).then(resolve, (error) => {
      log.warn({ err: error, ...facts }, 'an SFTP user could not be let in')
      resolve(undefined)
    })
    this.#logins++
    log.info(facts, 'an SFTP user has logged in')
    access
      .loggedIn(login, peerAddress(socket))
      .catch((error) => log.warn({ err: error, ...facts }, 'an SFTP log-in could not be recorded'))
  }

  async #admit({ userId, siteId, epoch }: SftpLogin): Promise<Jail | undefined> {
    const standing = await this.#options.access.standing([userId])
    const site = await this.#options.siteById(siteId)
    if (standing.get(userId) !== epoch || !site) return undefined
    const { siteDirectory, corePath, uid } = site
    return new Jail({ root: `${siteDirectory}/web`, corePath, uid, room: this.#roomOf(siteId, siteDirectory) })
  }

  #roomOf(siteId: number, siteDirectory: string): WriteRoom {
    const { quotaOf, keepFreeBytes } = this.#options
    const room =
      this.#rooms.get(siteId) ?? new WriteRoom({ siteDirectory, keepFreeBytes, quota: () => quotaOf(siteDirectory) })
    this.#rooms.set(siteId, room)
    return room
  }

  #forget(connection: SftpConnection): void {
    this.#connections.delete(connection)
    const { siteId } = connection.login
    if (![...this.#connections].some(({ login }) => login.siteId === siteId)) this.#rooms.delete(siteId)
  }

  async #look(): Promise<void> {
    const here = [...this.#connections]
    const standing = await this.#options.access.standing([...new Set(here.map(({ login }) => login.userId))])
    for (const each of here) {
      if (standing.get(each.login.userId) !== each.login.epoch) void each.end()
      else await each.look()
    }
  }

  #lookAtAll(): void {
    for (const each of this.#connections) if (each.idleMs > this.#limits.idleMs) void each.end()
    void this.look()
  }

  #tell(siteId: number): void {
    if (this.#bursts.has(siteId)) return
    const timer = setTimeout(() => {
      this.#bursts.delete(siteId)
      this.#options.changed(siteId)
    }, this.#limits.burstMs)
    this.#bursts.set(siteId, timer)
  }
}

const nameOf = (address: string, port: number): string => `${address} ${port}`
