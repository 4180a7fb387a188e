/** A process that answers like a host, with and without certificates, and says how much processor time it used. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { acceptRoles } from '../../src/platform/mtls/accept-roles.ts'
import { type KnownRoles, type OwnCertificate, RoleTrust } from '../../src/platform/mtls/role-trust.ts'

const { own, known } = JSON.parse(process.argv[2] as string) as { own: OwnCertificate; known: KnownRoles }
const small = Buffer.alloc(200, 'a')
const page = Buffer.alloc(30_000, 'a')
const open = (isSecure: boolean) => {
  const server = createServer((request, response) => {
    const body = request.url === '/page' ? page : small
    response.setHeader('content-length', body.length)
    response.end(body)
  })
  server.keepAliveTimeout = 65_000
  const trust = new RoleTrust(own, known)
  if (isSecure) acceptRoles(server, { trust, roles: ['edge'], isPlainAllowed: () => false, onRefused: console.error })
  return new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
process.send?.({ plain: await open(false), secure: await open(true) })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
