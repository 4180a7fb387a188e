import type { TLSSocket } from 'node:tls'

/** Why a connection failed: `unknown_name` has no certificate, or the client names none. */
export const handshakeFailures = ['unknown_name', 'no_shared_protocol', 'timeout', 'other'] as const
export type HandshakeFailure = (typeof handshakeFailures)[number]

/** Client and server have no version, cipher, group, or protocol in common. */
const NOTHING_SHARED =
  /^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_SHARED_\w+|NO_SUITABLE_\w+|NO_APPLICATION_PROTOCOL|INAPPROPRIATE_FALLBACK)$/
/** OpenSSL's errors when it has no certificate to offer, or nothing else in common with the client. */
const NO_CERTIFICATE = /^ERR_SSL_(?:NO_SHARED_CIPHER|NO_SUITABLE_SIGNATURE_ALGORITHM)$/

/** @param error Node's error of a handshake */
export function handshakeFailureOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout'
  return NOTHING_SHARED.test(code) ? 'no_shared_protocol' : 'other'
}

/** Returns whether the client named no host, so that the edge cannot look for a certificate. */
export const isNameless = ({ code = '' }: NodeJS.ErrnoException, socket: TLSSocket): boolean =>
  !socket.servername && NO_CERTIFICATE.test(code)
