export type HostErrorCode =
  | 'HOST_CONNECT_TIMEOUT'
  | 'HOST_HEAD_TIMEOUT'
  | 'HOST_BODY_TIMEOUT'
  /** The connection ended before the answer was complete. */
  | 'HOST_CLOSED'
  | 'HOST_MALFORMED'
  /** What was to be sent cannot be written as HTTP. */
  | 'HOST_BAD_REQUEST'
  | 'HOST_ABORTED'

/** Why there is no answer of a host, or no end of it. The system's own errors (`ECONNREFUSED`) are passed on as they are. */
export class HostError extends Error {
  readonly code: HostErrorCode

  constructor(code: HostErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

const BROKEN = new Set(['HOST_CLOSED', 'ECONNRESET', 'EPIPE'])

/** The connection went away under the request: worth a second try on a new one. */
export const isBroken = ({ code }: NodeJS.ErrnoException): boolean => BROKEN.has(code ?? '')
