import type { X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { peerAddress } from '../../platform/http/client/client-address.ts'
import { parseAuthority } from '../routing/host-name.ts'
import type { VisitRequest } from '../visit.ts'

/** Whether a request has come by a connection that is not for its host name. */
export type IsMisdirected = (request: VisitRequest, hostName: string) => boolean

/**
 * What is asked for over https must have come over a connection that is encrypted by a certificate of that very name (RFC 9110 §7.4): the
 * browser that reuses a connection for another site, or a proxy that mixes two up, is told to come again by one of its own (421).
 * @param isTrusted proxies, who encrypt by what name they like, and say themselves which scheme the visitor used
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
    // the handshake has found the certificate by this name
    if (socket.servername && parseAuthority(socket.servername)?.hostName === hostName) return false
    return !covers(socket, hostName)
  }
}
