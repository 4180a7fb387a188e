import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket as DatagramSocket } from 'node:dgram'
import { once } from 'node:events'
import { type FileHandle, open } from 'node:fs/promises'
import type { Server } from 'node:net'
import { setPriority } from 'node:os'
import type { Readable } from 'node:stream'
import { endsWithUs } from '../../../platform/ends-with-us.ts'
import { programFolders } from '../../../platform/files/find-program.ts'
import { PhpCrashed } from '../runtime.ts'
import { lowestPriority } from '../wasm/process.ts'

/** Makes all addresses local, and redirects all connections to the host's sockets. */
const rules = `
table inet stead {
  chain outgoing {
    type nat hook output priority -100
    meta l4proto tcp redirect to :1
    udp dport 53 redirect to :53
  }
}`
const steps = `
  set -e
  ip link set lo up
  ip route add local default dev lo src 127.0.0.1
  ip -6 route add local default dev lo src ::1 2>/dev/null || true
  nft -f -
  exec "$@"
`

/** The programs that this needs besides Node. `ss` is for using the networks. */
export const networkPrograms = ['unshare', 'nsenter', 'ip', 'nft', 'ss'] as const

/** A network for one sandbox, with only its loopback and the host's sockets. */
export interface Network {
  /** Path for nsenter(1). */
  readonly path: string
  readonly connections: Server
  readonly names: DatagramSocket
  close(): void
}

/**
 * Networks of sandboxes. Some are created in advance, because creating one takes longer than the rest of a start. None
 * is used twice, so that nothing of a site remains in the next one's.
 */
export class Networks {
  readonly #program: string
  readonly #ahead: number
  readonly #spares: Network[] = []
  #making = 0
  #closed = false

  /** @param program path of `network-child.ts` @param ahead how many to keep ready */
  constructor(program: string, ahead: number) {
    this.#program = program
    this.#ahead = ahead
    this.refill()
  }

  /** @throws PhpCrashed when none can be created */
  async take(): Promise<Network> {
    return this.#spares.shift() ?? this.#make({ isHurried: true })
  }

  close(): void {
    this.#closed = true
    for (const spare of this.#spares.splice(0)) spare.close()
  }

  /**
   * Creates spares one at a time, at the lowest priority. Not while the process that took one starts, because the
   * kernel would delay it.
   */
  refill(): void {
    if (this.#closed || this.#making > 0 || this.#spares.length >= this.#ahead) return
    this.#making++
    this.#make({ isHurried: false })
      .then(
        (spare) => {
          if (this.#closed) spare.close()
          else this.#spares.push(spare)
          return true
        },
        // The next caller of take() gets the error.
        () => false,
      )
      .then((isMade) => {
        this.#making--
        if (isMade) this.refill()
      })
  }

  async #make({ isHurried }: { isHurried: boolean }): Promise<Network> {
    const words = [...endsWithUs, 'unshare', '--net', '--', 'sh', '-c', steps, 'sh']
    // `env` keeps the command the same when `endsWithUs` is empty.
    const helper = spawn('env', [...words, process.execPath, '--no-warnings', this.#program], {
      stdio: ['pipe', 'ignore', 'pipe', 'ipc', 'pipe'],
      env: { PATH: programFolders.join(':') },
      cwd: '/',
    })
    if (!isHurried && helper.pid !== undefined) setPriority(helper.pid, lowestPriority)
    const { connections, names, entrance } = await takeOver(helper)
    return {
      path: `/proc/${process.pid}/fd/${entrance.fd}`,
      connections,
      names,
      close() {
        connections.close()
        names.close()
        void entrance.close()
      },
    }
  }
}

interface Taken {
  readonly connections: Server
  readonly names: DatagramSocket
  /** Keeps the network reachable by path while this process has it open. */
  readonly entrance: FileHandle
}

/**
 * Receives the sockets from the helper. The helper stays until it is released, because the network is found through it.
 */
async function takeOver(helper: ChildProcess): Promise<Taken> {
  let said = ''
  const errors = helper.stderr as Readable
  errors.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(-1000)
  })
  for (const pipe of [helper.stdin, helper.stdio[4]]) pipe?.on('error', () => {})
  helper.stdin?.end(rules)
  const taken: { connections?: Server; names?: DatagramSocket; entrance?: FileHandle } = {}
  const isThere = Promise.withResolvers<void>()
  helper.on('message', (what, handle) => {
    if (what === 'names') taken.names = handle as DatagramSocket
    if (what === 'connections') taken.connections = handle as Server
    if (taken.names && taken.connections) isThere.resolve()
  })
  const failed = once(helper, 'error').then(([error]) => Promise.reject(error as Error))
  const ended = once(helper, 'close')
  try {
    await Promise.race([isThere.promise, ended, failed])
    if (taken.names && taken.connections) taken.entrance = await open(`/proc/${helper.pid}/ns/net`)
  } finally {
    if (helper.connected) helper.disconnect()
    helper.stdio[4]?.destroy()
  }
  const { connections, names, entrance } = taken
  if (connections && names && entrance) return { connections, names, entrance }
  connections?.close()
  names?.close()
  throw new PhpCrashed(`Stead could not create PHP's outgoing network: ${said.trim()}`)
}
