export type HostErrorCode =
  | 'HOST_CONNECT_TIMEOUT'
  /** The site is not on this host, or not in the place that the edge knows. */
  | 'HOST_ELSEWHERE'
  /** Nothing comes from the machine: it is off, or cut off. */
  | 'HOST_SILENT'
  /** The machine at its address has no valid certificate of this host. */
  | 'HOST_UNTRUSTED'
  | 'HOST_HEAD_TIMEOUT'
  | 'HOST_BODY_TIMEOUT'
  /** The connection ended before the answer was complete. */
  | 'HOST_CLOSED'
  | 'HOST_MALFORMED'
  /** The request cannot be written as HTTP. */
  | 'HOST_BAD_REQUEST'
  | 'HOST_ABORTED'

/** Why a host gave no answer, or an incomplete one. System errors (`ECONNREFUSED`) are passed on unchanged. */
export class HostError extends Error {
  readonly code: HostErrorCode

  constructor(code: HostErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

const BROKEN = new Set(['HOST_CLOSED', 'ECONNRESET', 'EPIPE'])

/** Returns whether the connection broke during the request, so that a second try on a new one makes sense. */
export const isBroken = ({ code }: NodeJS.ErrnoException): boolean => BROKEN.has(code ?? '')
