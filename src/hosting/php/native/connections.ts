import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'

/** An address with its port, as in `/proc/net/tcp`. */
export interface SocketAddress {
  readonly address: string
  readonly port: number
}

const LISTENING = '0A'

/**
 * Returns where a connection in a sandbox's network was going before it was redirected to the host. The kernel's
 * connection table of that network still has the original destination. Whatever a site does with its sockets, the
 * result is only another address to check.
 * @param pid a process in that network
 * @param peer source of the connection
 */
export async function askedFor(pid: number, peer: SocketAddress): Promise<SocketAddress | undefined> {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(peer.address)?.[1]
  const of4 = mapped ?? (isIPv6(peer.address) ? undefined : peer.address)
  // An IPv6 socket may be connected to an IPv4 address.
  const wanted = of4 === undefined ? [peer.address] : [of4, `::ffff:${of4}`]
  const tables = of4 === undefined ? ['tcp6'] : ['tcp', 'tcp6']
  for (const table of tables) {
    const text = await readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '')
    for (const row of text.split('\n').slice(1)) {
      const [, local = '', remote = '', state] = row.trim().split(/\s+/)
      if (state === LISTENING || !local.endsWith(`:${hex(peer.port)}`)) continue
      const here = readPlace(local)
      if (here && wanted.includes(here.address)) return unmapped(readPlace(remote))
    }
  }
  return undefined
}

const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')

function unmapped(place: SocketAddress | undefined): SocketAddress | undefined {
  const mapped = place && /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(place.address)?.[1]
  return mapped ? { ...place, address: mapped } : place
}

/** Parses an address. The kernel prints it as 32-bit words in the machine's byte order. */
export function readPlace(text: string): SocketAddress | undefined {
  const [words = '', port = ''] = text.split(':')
  const bytes = Buffer.from(words, 'hex')
  if ((bytes.length !== 4 && bytes.length !== 16) || !/^[0-9A-F]{4}$/.test(port)) return undefined
  bytes.swap32()
  return { address: bytes.length === 4 ? bytes.join('.') : textOfIPv6(bytes), port: Number.parseInt(port, 16) }
}

function textOfIPv6(bytes: Buffer): string {
  const mapped = Buffer.from('00000000000000000000ffff', 'hex')
  if (bytes.subarray(0, 12).equals(mapped)) return `::ffff:${bytes.subarray(12).join('.')}`
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16))
  const whole = groups.join(':')
  // The only short form that is compared, because the machine itself uses ::1.
  return whole === '0:0:0:0:0:0:0:1' ? '::1' : whole
}
