import { X509Certificate } from 'node:crypto'
import type { OnReadOpts } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { CertifiedRole } from './role-name.ts'
import type { RoleTrust } from './role-trust.ts'

/** The machine at an address is not the expected one. */
export class UntrustedRole extends Error {
  override readonly name = 'UntrustedRole'
  readonly code = 'HOST_UNTRUSTED'
}

/**
 * Returns an address with the name of the role that must answer there: `https://h1@10.0.0.5:8090`. Only a certificate
 * with this name is accepted.
 * @param address `http://address:port`
 */
export function secureAddress(address: string, name: string): string {
  const { host } = new URL(address)
  return `https://${encodeURIComponent(name)}@${host}`
}

/** Returns what a client of a role requires of the server. */
export const peerOptions = (url: URL, trust: RoleTrust, role: CertifiedRole): ConnectionOptions => ({
  secureContext: trust.context(),
  rejectUnauthorized: true,
  servername: '',
  checkServerIdentity(_name, { raw }) {
    const fault = trust.faultOf(new X509Certificate(raw), { roles: [role], name: decodeURIComponent(url.username) })
    return fault === undefined ? undefined : new UntrustedRole(`${url.host} is not trusted: ${fault}`)
  },
})

/**
 * Connects to a role. Nothing may be written before `secureConnect`, because the peer is unknown until then.
 * @param url as of {@link secureAddress}
 */
export function connectToRole(url: URL, trust: RoleTrust, role: CertifiedRole, onread?: OnReadOpts): TLSSocket {
  const options: ConnectionOptions & { onread?: OnReadOpts } = {
    ...peerOptions(url, trust, role),
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 443),
    ...(onread && { onread }),
  }
  const socket = connect(options)
  socket.setNoDelay(true)
  return socket
}
