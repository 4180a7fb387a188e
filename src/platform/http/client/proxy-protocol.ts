import { timingSafeEqual } from 'node:crypto'
import { isIP, type Server, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { declareMemory } from '../../process-memory.ts'
import { plainAddress } from './plain-address.ts'

/** A site, or `every` for the monitoring, which asks one site after another on a connection. */
export type LooksAt = number | 'every'

/** The facts that the first bytes of a connection declare (PROXY protocol, versions 1 and 2). */
export interface Declared {
  /** The client that connected to the balancer. Undefined for the balancer itself, or if it does not know. */
  readonly address?: string
  /** Set to `https` if the visitor's connection to the balancer is encrypted. */
  readonly scheme?: 'http' | 'https'
  /** Whether a site of this Stead made the connection, as its host proves. */
  readonly isSite?: boolean
  /** The site that Stead itself checks, or every one, with proof. No visitor is behind the connection. */
  readonly looksAt?: LooksAt
}

export interface ProxyProtocolOptions {
  /** Returns whether an address may declare the client of its connections. */
  readonly isBalancer: (address: string) => boolean
  /** The key with which hosts prove that a connection comes from a site. Undefined: no host can. */
  readonly siteKey?: string | undefined
  /** The time limit for the header to arrive. */
  readonly timeoutMs: number
}

const declarations = new Map<string, Declared>()
declareMemory(() => declarations.clear())

/** Returns the key of a connection, which is the same when TLS wraps it. */
const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`

/** Returns the facts declared on a connection before its first request. */
export const declaredOf = (socket: Socket): Declared | undefined =>
  declarations.size === 0 ? undefined : declarations.get(keyOf(socket))

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const V1 = Buffer.from('PROXY ')
/** The longest line of version 1. */
const V1_MOST_BYTES = 107
/** The length of the signature, version and command, family, and length fields. */
const V2_HEAD_BYTES = 16
/** The most bytes of version 2: addresses of 36 bytes, and the fields that cloud balancers add. */
const V2_MOST_BYTES = 2048

const TLV_SSL = 0x20
/** The first of Stead's own types, from the range that the protocol reserves for its users. */
const TLV_SITE = 0xe0
const TLV_SCHEME = 0xe1
const TLV_LOOKS_AT = 0xe2

/**
 * Reads the header of each connection that may have one, before any listener sees the connection. Call it after all
 * listeners are added.
 * A connection of a balancer without a header is the balancer's own, such as a health check. A connection whose header
 * cannot be read is closed.
 * @returns a function that ends connections that have not sent anything yet
 */
export function readProxyHeaders(server: Server, options: ProxyProtocolOptions): () => void {
  const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
  const silent = new Set<Socket>()
  server.removeAllListeners('connection')
  const pass = (socket: Socket) => {
    for (const listener of listeners) listener.call(server, socket)
  }
  server.on('connection', (socket: Socket) => {
    const mayBeSite = options.siteKey !== undefined && isOfThisMachine(socket)
    const isBalancer = options.isBalancer(plainAddress(socket.remoteAddress ?? ''))
    if (!mayBeSite && !isBalancer) return pass(socket)
    silent.add(socket)
    const came: Buffer[] = []
    const end = () => socket.destroy()
    const done = () => {
      clearTimeout(timer)
      silent.delete(socket)
      socket.off('readable', look).off('end', end).off('close', done).off('error', end)
    }
    const timer = setTimeout(() => {
      if (came.length > 0) return end()
      // Nothing was sent: the listeners have their own answer to that.
      done()
      pass(socket)
    }, options.timeoutMs)
    const look = () => {
      const chunk: Buffer | null = socket.read()
      if (chunk === null) return
      came.push(chunk)
      const head = Buffer.concat(came)
      const header = readHeader(head)
      if (header === 'more') return
      const declared =
        header === 'bad' ? undefined : header && accept(header.declared, options, { mayBeSite, isBalancer })
      // A peer that may not declare such facts speaks neither HTTP nor TLS.
      if (header && !declared) return end()
      done()
      const rest = header && header !== 'bad' ? head.subarray(header.bytes) : head
      if (rest.length > 0) socket.unshift(rest)
      if (declared) remember(socket, declared)
      pass(socket)
    }
    socket.on('readable', look).on('end', end).on('close', done).on('error', end)
  })
  return () => {
    for (const socket of silent) socket.destroy()
  }
}

function remember(socket: Socket, declared: Declared): void {
  const key = keyOf(socket)
  declarations.set(key, declared)
  // Handlers still read the facts of the last request while the connection closes.
  socket.once('close', () => setImmediate(() => declarations.delete(key)))
}

interface Said extends Declared {
  readonly siteKey?: Buffer
}

/** @returns undefined if the peer may not declare this */
function accept(
  { siteKey, ...declared }: Said,
  options: ProxyProtocolOptions,
  { mayBeSite, isBalancer }: { mayBeSite: boolean; isBalancer: boolean },
): Declared | undefined {
  if (siteKey)
    return mayBeSite && isEqual(siteKey, options.siteKey as string) ? { ...declared, isSite: true } : undefined
  return isBalancer ? declared : undefined
}

const isEqual = (given: Buffer, key: string): boolean => {
  const expected = Buffer.from(key)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

type Header = { readonly bytes: number; readonly declared: Said } | 'more' | 'bad' | undefined

/** @returns undefined if the bytes have no header */
function readHeader(head: Buffer): Header {
  if (isBegin(head, V1)) return head.length < V1.length ? 'more' : readV1(head)
  if (isBegin(head, SIGNATURE)) return head.length < V2_HEAD_BYTES ? 'more' : readV2(head)
  return undefined
}

const isBegin = (head: Buffer, of: Buffer): boolean => {
  const length = Math.min(head.length, of.length)
  return head.subarray(0, length).equals(of.subarray(0, length))
}

function readV1(head: Buffer): Header {
  const end = head.subarray(0, V1_MOST_BYTES).indexOf('\r\n')
  if (end < 0) return head.length < V1_MOST_BYTES ? 'more' : 'bad'
  const bytes = end + 2
  const [, family, source = '', , , port] = head.toString('latin1', 0, end).split(' ')
  if (family === 'UNKNOWN') return { bytes, declared: {} }
  if ((family !== 'TCP4' && family !== 'TCP6') || isIP(source) !== Number(family.slice(3))) return 'bad'
  return { bytes, declared: { address: source, ...(port === '443' && { scheme: 'https' as const }) } }
}

function readV2(head: Buffer): Header {
  const bytes = V2_HEAD_BYTES + head.readUInt16BE(14)
  const command = head.readUInt8(12)
  if (bytes > V2_MOST_BYTES || command >> 4 !== 2 || (command & 15) > 1) return 'bad'
  if (head.length < bytes) return 'more'
  const family = head.readUInt8(13) >> 4
  const addressBytes = [0, 4, 16][family]
  // Addresses of a family other than the internet's cannot be read.
  const begin = V2_HEAD_BYTES + (addressBytes === undefined ? bytes : addressBytes * 2 + (family === 0 ? 0 : 4))
  const isOfBalancer = (command & 15) === 0
  const tlvs = readTlvs(head.subarray(Math.min(begin, bytes), bytes))
  if (!tlvs || (!isOfBalancer && addressBytes !== undefined && begin > bytes)) return 'bad'
  const siteKey = tlvs.get(TLV_SITE)
  if (siteKey) {
    const looksAt = lookedAt(tlvs.get(TLV_LOOKS_AT)?.toString() ?? '')
    const scheme = tlvs.get(TLV_SCHEME)?.toString() === 'https' ? 'https' : 'http'
    return { bytes, declared: { siteKey, scheme, ...(looksAt !== undefined && { looksAt }) } }
  }
  if (isOfBalancer || !addressBytes) return { bytes, declared: {} }
  const source = head.subarray(V2_HEAD_BYTES, V2_HEAD_BYTES + addressBytes)
  const port = head.readUInt16BE(V2_HEAD_BYTES + addressBytes * 2 + 2)
  const isEncrypted = port === 443 || ((tlvs.get(TLV_SSL)?.[0] ?? 0) & 1) === 1
  return {
    bytes,
    declared: {
      address: ipaddr.fromByteArray([...source]).toString(),
      ...(isEncrypted && { scheme: 'https' as const }),
    },
  }
}

function lookedAt(text: string): LooksAt | undefined {
  if (text === 'every') return text
  return Number(text) > 0 ? Number(text) : undefined
}

/**
 * Reads fields of type, length and value.
 * @returns undefined if the lengths do not fit
 */
function readTlvs(part: Buffer): Map<number, Buffer> | undefined {
  const found = new Map<number, Buffer>()
  let at = 0
  while (at < part.length) {
    if (at + 3 > part.length) return undefined
    const end = at + 3 + part.readUInt16BE(at + 1)
    if (end > part.length) return undefined
    found.set(part.readUInt8(at), part.subarray(at + 3, end))
    at = end
  }
  return found
}

/**
 * Returns the header that Stead sends first on a connection that one of its sites makes.
 * @param looksAt what Stead itself checks through the connection; requests for it do not count as visits
 */
export function siteHeader(siteKey: string, scheme: 'http' | 'https', looksAt?: LooksAt): Buffer {
  const tlvs: [number, string][] = [
    [TLV_SITE, siteKey],
    [TLV_SCHEME, scheme],
  ]
  if (looksAt !== undefined) tlvs.push([TLV_LOOKS_AT, String(looksAt)])
  const parts = tlvs.map(([type, value]) => {
    const head = Buffer.from([type, 0, 0])
    head.writeUInt16BE(Buffer.byteLength(value), 1)
    return Buffer.concat([head, Buffer.from(value)])
  })
  const rest = Buffer.concat(parts)
  // The LOCAL command, without addresses.
  const head = Buffer.from([0x20, 0, 0, 0])
  head.writeUInt16BE(rest.length, 2)
  return Buffer.concat([SIGNATURE, head, rest])
}

const isOfThisMachine = ({ remoteAddress = '', localAddress }: Socket): boolean =>
  remoteAddress === localAddress || remoteAddress === '::1' || plainAddress(remoteAddress).startsWith('127.')
