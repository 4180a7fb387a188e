import { timingSafeEqual } from 'node:crypto'
import { isIP, type Server, type Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { declareMemory } from '../../process-memory.ts'
import { plainAddress } from './plain-address.ts'

/** What the first bytes of a connection say of it (PROXY protocol, versions 1 and 2). */
export interface Declared {
  /** Who has connected to the balancer; undefined: the balancer itself, or it does not know. */
  readonly address?: string
  /** The visitor's connection to the balancer is encrypted. */
  readonly scheme?: 'http' | 'https'
  /** A site of this Stead has made the connection, as its host proves. */
  readonly isSite?: boolean
  /** Stead itself looks at this site, as it proves: nobody visits it. */
  readonly looksAt?: number
}

export interface ProxyProtocolOptions {
  /** Whether an address may say who its connections are from. */
  readonly isBalancer: (address: string) => boolean
  /** What hosts prove by it that a connection is a site's; undefined: nobody can. */
  readonly siteKey?: string | undefined
  /** For the header to come. */
  readonly timeoutMs: number
}

const declarations = new Map<string, Declared>()
declareMemory(() => declarations.clear())

/** A connection, also where TLS is wrapped around it. */
const keyOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`

/** What was said of a connection before its first request. */
export const declaredOf = (socket: Socket): Declared | undefined =>
  declarations.size === 0 ? undefined : declarations.get(keyOf(socket))

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
const V1 = Buffer.from('PROXY ')
/** The longest line of version 1. */
const V1_MOST_BYTES = 107
/** Signature, version and command, family, length. */
const V2_HEAD_BYTES = 16
/** Addresses of 36 bytes, and what balancers of clouds add. */
const V2_MOST_BYTES = 2048

const TLV_SSL = 0x20
/** Of those that the protocol leaves to its users. */
const TLV_SITE = 0xe0
const TLV_SCHEME = 0xe1
const TLV_LOOKS_AT = 0xe2

/**
 * Reads the header of each connection that may have one before anybody else sees the connection; call it when all listeners are there. A
 * connection of a balancer without a header is the balancer's own, as those of health checks are. One whose header cannot be read is closed.
 * @returns what ends connections that have not said anything yet
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
      // nothing was said: the listeners have their own answer to that
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
      // who may not say such things speaks neither HTTP nor TLS
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
  // what is told of the last request is asked for while the connection closes
  socket.once('close', () => setImmediate(() => declarations.delete(key)))
}

interface Said extends Declared {
  readonly siteKey?: Buffer
}

/** @returns undefined: the other end may not say so */
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

/** @returns undefined where there is none */
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
  // of a family that is none of the internet's nothing can be told
  const begin = V2_HEAD_BYTES + (addressBytes === undefined ? bytes : addressBytes * 2 + (family === 0 ? 0 : 4))
  const isOfBalancer = (command & 15) === 0
  const tlvs = readTlvs(head.subarray(Math.min(begin, bytes), bytes))
  if (!tlvs || (!isOfBalancer && addressBytes !== undefined && begin > bytes)) return 'bad'
  const siteKey = tlvs.get(TLV_SITE)
  if (siteKey) {
    const looksAt = Number(tlvs.get(TLV_LOOKS_AT)?.toString() ?? '')
    const scheme = tlvs.get(TLV_SCHEME)?.toString() === 'https' ? 'https' : 'http'
    return { bytes, declared: { siteKey, scheme, ...(looksAt > 0 && { looksAt }) } }
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

/** Type, length, value. @returns undefined where the lengths do not fit */
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
 * Returns what Stead sends before anything else on a connection that one of its sites makes.
 * @param looksAt the site that Stead itself looks at through the connection: its requests to that site are nobody's visits
 */
export function siteHeader(siteKey: string, scheme: 'http' | 'https', looksAt?: number): Buffer {
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
  // LOCAL, no addresses
  const head = Buffer.from([0x20, 0, 0, 0])
  head.writeUInt16BE(rest.length, 2)
  return Buffer.concat([SIGNATURE, head, rest])
}

const isOfThisMachine = ({ remoteAddress = '', localAddress }: Socket): boolean =>
  remoteAddress === localAddress || remoteAddress === '::1' || plainAddress(remoteAddress).startsWith('127.')
