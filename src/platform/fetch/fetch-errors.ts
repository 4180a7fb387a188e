/** The failures of a fetch. Messages may be shown to users: they contain no addresses, query strings or stacks. */
export abstract class FetchError extends Error {}

/** Not attempted, or not followed: Stead does not fetch such a URL, or it leads to an address that is not public. */
export class FetchRefused extends FetchError {
  override readonly name = 'FetchRefused'
}

/** The server could not be reached, broke off, or answered without success. */
export class FetchFailed extends FetchError {
  override readonly name = 'FetchFailed'
  /** The HTTP status of the answer; undefined without a complete answer. */
  readonly status: number | undefined

  constructor(message: string, options: { status?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.status = options.status
  }
}

/** More bytes than allowed, as sent or once decompressed. */
export class FetchTooLarge extends FetchError {
  override readonly name = 'FetchTooLarge'
}

/** No progress for too long, or not finished in the time allowed. */
export class FetchTimedOut extends FetchError {
  override readonly name = 'FetchTimedOut'
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'refused the connection',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  EHOSTUNREACH: 'cannot be reached from here',
  ENETUNREACH: 'cannot be reached from here',
  UND_ERR_SOCKET: 'closed the connection before the response was complete',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'sent an incomplete response',
}

/** Converts a network error to one of the errors above. `place` names the URL for the reader. */
export function fetchErrorFrom(cause: unknown, place: string): FetchError {
  if (cause instanceof FetchError) return cause
  const { code = '', name = '', message = '' } = (cause ?? {}) as { code?: string; name?: string; message?: string }
  if (name === 'AddressRefused') return new FetchRefused(`${place}: ${message}`, { cause })
  if (name === 'AddressNotFound') return new FetchFailed(`${place}: ${message}`, { cause })
  if (/^(UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT|ETIMEDOUT)$/.test(code))
    return new FetchTimedOut(`${place}: the server did not respond in time`, { cause })
  if (/^Z_|^ERR__?(BROTLI|ZSTD)/.test(code))
    return new FetchFailed(`${place}: the server sent a response that cannot be decompressed`, { cause })
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code))
    return new FetchFailed(`${place}: no secure connection (${code})`, { cause })
  if (name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW')
    return new FetchFailed(`${place}: the server sent a response that is not valid HTTP`, { cause })
  return new FetchFailed(
    `${place}: the server ${reasons[code] ?? `cannot be reached (${code || 'no reason given'})`}`,
    {
      cause,
    },
  )
}
