/**
 * Runs once in a new network, as root: opens the sockets on which the host will listen there, and passes them to the
 * host, which cannot enter the network itself. Open descriptors keep their network alive until the host closes them.
 */
import { createSocket } from 'node:dgram'
import { createServer, type Server, Socket } from 'node:net'

/**
 * Open while the host runs and needs this process. Node does not report that a channel has closed while a handle is
 * being sent.
 */
const hostDescriptor = 4
const host = new Socket({ fd: hostDescriptor, readable: true, writable: false })
host.on('error', () => {})
host.once('close', () => process.exit())
host.resume()

/** Both are below 1024, so a site cannot bind them. */
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
// A machine without IPv6 does not have this address.
const connections = await listening('::').catch(() => listening('0.0.0.0'))
await hand('names', names)
await hand('connections', connections)
