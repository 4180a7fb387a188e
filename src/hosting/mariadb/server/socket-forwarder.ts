import { chmod, mkdir, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { ServerAddress } from './connect.ts'

/** The same limit as Stead's own server has for all sites. */
const MOST_CONNECTIONS = 2000

/**
 * Opens a socket that forwards to a server elsewhere. Sites can only reach the public internet, not a database server.
 * They also could not use the server's own socket, because it is a new file after each restart.
 */
export async function openSocketForwarder(folder: string, address: ServerAddress): Promise<{ close(): void }> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o711)
  const path = join(folder, 'socket')
  await rm(path, { force: true })
  const open = new Set<Socket>()
  const server = createServer((site) => {
    const there = 'socketPath' in address ? connect(address.socketPath) : connect(address.port, address.host)
    for (const [one, other] of [
      [site, there],
      [there, site],
    ] as const) {
      open.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  await chmod(path, 0o666)
  return {
    close() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
