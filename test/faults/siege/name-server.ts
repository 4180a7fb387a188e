import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** An address of the loopback network that is not the machine's own resolver. */
const ADDRESS = '127.66.0.53'

/**
 * Name servers are queried on port 53, and only a mount namespace gives a single program another `/etc/resolv.conf`.
 */
export const mayHaveNameServer = process.getuid?.() === 0 && existsSync('/usr/bin/unshare')

export interface NameServer {
  /** Prefix of a command that must use this name server. */
  readonly under: readonly string[]
  /** Names that it was queried for and has answered. */
  readonly asked: ReadonlySet<string>
  close(): void
}

/** Never answers for names below `silent.test`. Answers at once that any other name does not exist. */
export async function startNameServer(folder: string): Promise<NameServer | undefined> {
  if (!mayHaveNameServer) return undefined
  const asked = new Set<string>()
  const socket = createSocket('udp4')
  socket.on('error', () => {})
  socket.on('message', (query, from) => {
    const name = nameIn(query)
    if (name.endsWith('silent.test')) return
    asked.add(name)
    socket.send(noSuchName(query), from.port, from.address)
  })
  socket.bind(53, ADDRESS)
  await once(socket, 'listening')
  const file = join(folder, 'resolv.conf')
  await writeFile(file, `nameserver ${ADDRESS}\n`)
  const mounted = 'mount --bind "$0" "$(readlink -f /etc/resolv.conf)" && exec "$@"'
  return {
    under: ['/usr/bin/unshare', '--mount', '--propagation', 'private', 'sh', '-c', mounted, file],
    asked,
    close: () => socket.close(),
  }
}

/** The name in a query (RFC 1035 §4.1.2). */
function nameIn(query: Buffer): string {
  const labels: string[] = []
  for (let at = 12; ; ) {
    const length = query[at] ?? 0
    if (length === 0) return labels.join('.').toLowerCase()
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
}

/** The query back with QR, RA, and RCODE 3. */
function noSuchName(query: Buffer): Buffer {
  const answer = Buffer.from(query)
  answer.writeUInt16BE(0x8183, 2)
  // an OPT record of the query stays in place: it counts as ours
  return answer
}
