import type { TLSSocket } from 'node:tls'

/** Why a connection has come to nothing: `unknown_name` has no certificate, or the client names none. */
export const handshakeFailures = ['unknown_name', 'no_shared_protocol', 'timeout', 'other'] as const
export type HandshakeFailure = (typeof handshakeFailures)[number]

/** Version, cipher, group or protocol inside: client and server have none in common. */
const NOTHING_SHARED =
  /^ERR_SSL_(?:UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_SHARED_\w+|NO_SUITABLE_\w+|NO_APPLICATION_PROTOCOL|INAPPROPRIATE_FALLBACK)$/
/** What OpenSSL says that has no certificate to offer, or nothing else in common with the client. */
const NO_CERTIFICATE = /^ERR_SSL_(?:NO_SHARED_CIPHER|NO_SUITABLE_SIGNATURE_ALGORITHM)$/

/** @param error what Node says of a handshake */
export function failureOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'timeout'
  return NOTHING_SHARED.test(code) ? 'no_shared_protocol' : 'other'
}

/** The client has named no host, for which nothing is looked up. */
export const isNameless = ({ code = '' }: NodeJS.ErrnoException, socket: TLSSocket): boolean =>
  !socket.servername && NO_CERTIFICATE.test(code)
