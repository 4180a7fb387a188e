import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'

/** What the server is called. */
export const IDENT = 'Stead'
/** The ciphers that are quickest here: no MAC besides, which takes twice as long as they do. */
export const GCM = ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'] as const

/** Who says more before anything is agreed on gets no choice made. */
const MOST_BYTES = 8 << 10
/** Clients say what they know without being asked. One that waits for the server's word gets it after this. */
const PATIENCE_MS = 500
const KEXINIT = 20
const COOKIE_BYTES = 16

/**
 * Listens to what a client knows before anything is offered to it: SSH goes by the client’s wish, and OpenSSH before 10 wishes for AES-GCM last.
 * What was heard is put back, and the line by which ssh2 introduces itself is passed over: it was sent.
 * @returns whether AES-GCM alone may be offered; undefined: it has gone
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

/** @returns undefined: it has not said enough */
export function gcmIn(heard: Buffer): boolean | undefined {
  const packet = heard.subarray(heard.indexOf('\n') + 1)
  if (packet.length === heard.length || packet.length < 6) return undefined
  const length = packet.readUInt32BE(0)
  if (packet[5] !== KEXINIT || length > MOST_BYTES) return false
  if (packet.length < 4 + length) return undefined
  const [, , toServer, toClient] = nameLists(packet.subarray(6 + COOKIE_BYTES, 4 + length))
  return [toServer, toClient].every((list) => GCM.some((name) => list?.includes(name)))
}

/** Key exchange, host keys, ciphers to the server, ciphers to the client. */
function nameLists(bytes: Buffer): string[][] {
  const lists: string[][] = []
  for (let at = 0; lists.length < 4 && at + 4 <= bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at)
    lists.push(bytes.toString('latin1', at + 4, end).split(','))
    at = end
  }
  return lists
}

/** Leaves the next thing out that is written, if it is this. */
function passOver(socket: Socket, text: string): void {
  const { write } = socket
  const once = (...words: Parameters<typeof write>) => {
    socket.write = write
    return String(words[0]) === text || write.apply(socket, words)
  }
  socket.write = once as typeof write
}

/** What the pinned release of ssh2 has and does not show; a test sees when it has gone. */
interface Inner {
  readonly _protocol?: {
    readonly _cipher?: { _encKey?: Buffer | KeyObject }
    readonly _decipher?: { _decipherKey?: Buffer | KeyObject }
  }
}

/** Keys of AES-GCM as Node wants them: ssh2 begins anew with each packet, and from bytes that takes Node as long as a packet’s encryption. */
export function readyKeys(client: Connection): void {
  const { _cipher: cipher, _decipher: decipher } = (client as Inner)._protocol ?? {}
  if (Buffer.isBuffer(cipher?._encKey)) cipher._encKey = createSecretKey(cipher._encKey)
  if (Buffer.isBuffer(decipher?._decipherKey)) decipher._decipherKey = createSecretKey(decipher._decipherKey)
}
