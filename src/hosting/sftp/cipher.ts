import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'

/** The name that the server announces. */
export const IDENT = 'Stead'
/** The fastest ciphers here. They need no separate MAC, which would take twice as long as they do. */
export const GCM = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'] as const

/** A client that sends more than this before key exchange gets the default ciphers. */
const MOST_BYTES = 8 << 10
/** Most clients send their algorithms first. One that waits for the server gets its offer after this. */
const PATIENCE_MS = 500
const KEXINIT = 20
const COOKIE_BYTES = 16

/**
 * Reads which ciphers a client supports before the server offers any. In SSH the client's preference wins, and OpenSSH
 * before 10 prefers AES-GCM last. Afterwards, the bytes are returned to the stream, and ssh2's own identification line
 * is skipped because it was already sent.
 * @returns whether to offer only AES-GCM; undefined when the client has disconnected
 */
export async function knowsGcm(socket: Socket): Promise<boolean | undefined> {
  const ident = `SSH-2.0-${IDENT}\r\n`
  socket.write(ident)
  let heard = Buffer.alloc(0)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const giveUp = () => resolve(false)
  const hear = (bytes: Buffer) => {
    heard = Buffer.concat([heard, bytes])
    const known = gcmIn(heard)
    if (known !== undefined || heard.length > MOST_BYTES) resolve(known === true)
  }
  const timer = setTimeout(giveUp, PATIENCE_MS)
  socket.on('data', hear).once('end', giveUp).once('close', giveUp)
  const known = await promise
  clearTimeout(timer)
  socket.pause().off('data', hear).off('end', giveUp).off('close', giveUp)
  if (socket.destroyed || socket.readableEnded) return undefined
  if (heard.length > 0) socket.unshift(heard)
  passOver(socket, ident)
  return known
}

/** @returns undefined when the client has not sent enough yet */
export function gcmIn(heard: Buffer): boolean | undefined {
  const packet = heard.subarray(heard.indexOf('\n') + 1)
  if (packet.length === heard.length || packet.length < 6) return undefined
  const length = packet.readUInt32BE(0)
  if (packet[5] !== KEXINIT || length > MOST_BYTES) return false
  if (packet.length < 4 + length) return undefined
  const [, , toServer, toClient] = nameLists(packet.subarray(6 + COOKIE_BYTES, 4 + length))
  return [toServer, toClient].every((list) => GCM.some((name) => list?.includes(name)))
}

/** Reads the first four lists: key exchange, host keys, ciphers to the server, ciphers to the client. */
function nameLists(bytes: Buffer): string[][] {
  const lists: string[][] = []
  for (let at = 0; lists.length < 4 && at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    lists.push(bytes.toString('latin1', at + 4, end).split(','))
    at = end
  }
  return lists
}

/** Skips the next write if it is this text. */
function passOver(socket: Socket, text: string): void {
  const { write } = socket
  const once = (...words: Parameters<typeof write>) => {
    socket.write = write
    return String(words[0]) === text || write.apply(socket, words)
  }
  socket.write = once as typeof write
}

/** Private parts of the pinned release of ssh2. A test fails if they disappear. */
interface Inner {
  readonly _protocol?: {
    readonly _cipher?: { _encKey?: Buffer | KeyObject }
    readonly _decipher?: { _decipherKey?: Buffer | KeyObject }
  }
}

/**
 * Replaces AES-GCM keys with key objects. ssh2 creates a cipher for each packet, and with raw bytes that takes Node as
 * long as encrypting the packet.
 */
export function readyKeys(client: Connection): void {
  const { _cipher: cipher, _decipher: decipher } = (client as Inner)._protocol ?? {}
  if (Buffer.isBuffer(cipher?._encKey)) cipher._encKey = createSecretKey(cipher._encKey)
  if (Buffer.isBuffer(decipher?._decipherKey)) decipher._decipherKey = createSecretKey(decipher._decipherKey)
}
