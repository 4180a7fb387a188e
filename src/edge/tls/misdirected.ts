import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { peerAddress } from '../../platform/http/client/client-address.ts'
import { parseAuthority } from '../routing/host-name.ts'
import type { VisitRequest } from '../visit-request.ts'

/** Returns whether a request arrived on a connection that is not for its host name. */
export type IsMisdirected = (request: VisitRequest, hostName: string) => boolean

/**
 * Creates the check that an https request arrived on a connection with a certificate for its host name (RFC 9110 §7.4).
 * A browser that reuses a connection for another site, or a proxy that mixes two up, gets 421 and opens another
 * connection.
 * @param isTrusted proxies, which may use any name for TLS, and report the visitor's scheme themselves
 */
export function createMisdirected(isTrusted: (address: string) => boolean): IsMisdirected {
  const certificates = new WeakMap<Socket, X509Certificate>()
  const covers = (socket: TLSSocket, hostName: string): boolean => {
    const certificate = certificates.get(socket) ?? socket.getX509Certificate()
    if (!certificate) return false
    certificates.set(socket, certificate)
    return certificate.checkHost(hostName) !== undefined
  }
  return (request, hostName) => {
    const socket = request.socket as TLSSocket
    if (!socket.encrypted || isTrusted(peerAddress(socket))) return false
    if (request.scheme !== undefined && request.scheme !== 'https') return true
    // The handshake has found the certificate by this name.
    if (socket.servername && parseAuthority(socket.servername)?.hostName === hostName) return false
    return !covers(socket, hostName)
  }
}
