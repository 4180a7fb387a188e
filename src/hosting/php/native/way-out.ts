import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket as DatagramSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { programFolders } from '../../../platform/files/find-program.ts'
import { PhpCrashed } from '../runtime.ts'
import { connectForSite, type Egress } from '../wasm/egress.ts'
import { askedFor, type Place } from './connections.ts'
import { answerName, MadeUpAddresses } from './name-server.ts'

/** All addresses are this machine's own inside, and all connections lead to what the host listens to. */
const rules = `
table inet stead {
  chain outgoing {
    type nat hook output priority -100
    meta l4proto tcp redirect to :1
    udp dport 53 redirect to :53
  }
}`
const networkSteps = `
  set -e
  # bubblewrap is just making it
  for try in $(seq 500); do
    ! ip -o -4 address show dev lo up | grep -q . || break
    sleep 0.01
  done
  ip route add local default dev lo src 127.0.0.1
  ip -6 route add local default dev lo src ::1 2>/dev/null || true
  nft -f -
  exec "$@"
`

/** What is needed for it besides Node. */
export const networkPrograms = ['nsenter', 'ip', 'nft'] as const

/** How a sandbox's PHP reaches others. */
export interface WayOut {
  close(): void
}

/**
 * Opens the way out of a sandbox that has a network of its own with nothing in it: connections to whatever address end at the host,
 * which checks where they were to go, and makes them. Nothing in the sandbox has to know of it, or can get around it: there is no other way.
 * @param pid a process in the sandbox, as the machine counts
 * @param program of `network-child.ts`
 * @param ownName host name of the site
 * @throws PhpCrashed when it cannot be made
 */
export async function openWayOut(pid: number, program: string, egress: Egress, ownName: string): Promise<WayOut> {
  const helper = spawn(
    'nsenter',
    [`--net=/proc/${pid}/ns/net`, '--', 'sh', '-c', networkSteps, 'sh', process.execPath, '--no-warnings', program],
    { stdio: ['pipe', 'ignore', 'pipe', 'ipc'], env: { PATH: programFolders.join(':') }, cwd: '/' },
  )
  const { connections, names } = await takeOver(helper)
  // who has said all waits for the answer all the same
  Object.assign(connections, { allowHalfOpen: true })
  const madeUp = new MadeUpAddresses()
  names.on('message', (asked, from) => {
    const answer = answerName(asked, madeUp)
    if (answer) names.send(answer, from.port, from.address, () => {})
  })
  names.on('error', () => {})
  const open = new Set<Socket>()
  connections.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => open.delete(socket))
    serveConnection(socket, { pid, names: madeUp, egress, ownName }).catch(() => socket.resetAndDestroy())
  })
  return {
    close() {
      connections.close()
      names.close()
      for (const socket of open) socket.destroy()
    },
  }
}

async function takeOver(helper: ChildProcess): Promise<{ connections: Server; names: DatagramSocket }> {
  let said = ''
  const errors = helper.stderr as Readable
  errors.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(-1000)
  })
  helper.stdin?.on('error', () => {})
  helper.stdin?.end(rules)
  const taken: { connections?: Server; names?: DatagramSocket } = {}
  helper.on('message', (what, handle) => {
    if (what === 'names') taken.names = handle as DatagramSocket
    if (what === 'connections') taken.connections = handle as Server
  })
  const failed = once(helper, 'error').then(([error]) => Promise.reject(error as Error))
  await Promise.race([once(helper, 'close'), failed])
  const { connections, names } = taken
  if (connections && names) return { connections, names }
  connections?.close()
  names?.close()
  throw new PhpCrashed(`PHP's way out could not be made: ${said.trim()}`)
}

interface Asked {
  readonly pid: number
  readonly names: MadeUpAddresses
  readonly egress: Egress
  readonly ownName: string
}

/** What was meant by an address: libcurl asks nobody for `*.localhost`, so for it a site's address is that of this machine. */
async function meantBy({ address, port }: Place, { names, egress, ownName }: Asked): Promise<string> {
  const isLoopback = address === '::1' || address.startsWith('127.')
  // at the edge, which goes by what the request names
  if (isLoopback && (await egress.edge?.find(ownName, port))) return ownName
  return names.nameOf(address) ?? address
}

async function serveConnection(socket: Socket, asked: Asked): Promise<void> {
  const { pid, egress } = asked
  const { connections, site } = egress
  const { remoteAddress, remotePort } = socket
  if (remoteAddress === undefined || remotePort === undefined || !connections.take(site, 1)) {
    socket.resetAndDestroy()
    return
  }
  socket.on('close', () => connections.give(site, 1))
  const place = await askedFor(pid, { address: remoteAddress, port: remotePort })
  const outside = place && (await connectForSite(await meantBy(place, asked), place.port, egress))
  if (!outside || socket.destroyed) {
    outside?.destroy()
    socket.resetAndDestroy()
    return
  }
  outside.on('error', () => socket.destroy())
  outside.on('close', () => socket.destroySoon())
  socket.on('close', () => outside.destroy())
  socket.pipe(outside)
  outside.pipe(socket)
}
