/**
 * Run once in a new network, as root: opens what the host is to listen to there, and hands it over. The host itself cannot go there.
 * Descriptors keep the network that they were opened in. It stays until the host lets go of it.
 */
import { createSocket } from 'node:dgram'
import { createServer, type Server, Socket } from 'node:net'

/** Open as long as the host is there, and wants it. Of a channel that ends while something is handed over Node says nothing. */
const hostDescriptor = 4
const host = new Socket({ fd: hostDescriptor, readable: true, writable: false })
host.on('error', () => {})
host.once('close', () => process.exit())
host.resume()

/** Both below 1024: a site cannot take them. */
const connectionsPort = 1
const namesPort = 53

const hand = (what: string, handle: unknown): Promise<void> =>
  new Promise((resolve, reject) => {
    process.send?.(what, handle as Server, {}, (error) => (error ? reject(error) : resolve()))
  })

async function listening(host: string): Promise<Server> {
  const server = createServer({ pauseOnConnect: true })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port: connectionsPort }, resolve)
  })
  return server
}

const names = createSocket('udp4')
await new Promise<void>((resolve, reject) => {
  names.once('error', reject)
  names.bind(namesPort, '127.0.0.1', resolve)
})
// a machine without IPv6 has no such address
const connections = await listening('::').catch(() => listening('0.0.0.0'))
await hand('names', names)
await hand('connections', connections)
