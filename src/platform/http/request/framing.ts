import type { IncomingMessage } from 'node:http'

type Framed = Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMajor' | 'httpVersionMinor'>

/** Why a request may be read differently from how its sender meant it. */
export interface FramingFault {
  readonly status: 400 | 413 | 501 | 505
  readonly reason: string
}

/**
 * Finds faults that Node's parser accepts and a server must not. A proxy in front may have read a different request,
 * length or host (request smuggling).
 * @returns undefined if the request is well framed
 */
export function framingFault(request: Framed): FramingFault | undefined {
  const { rawHeaders, httpVersionMajor } = request
  // RFC 9110 §15.6.6. HTTP/0.9 has no head, and HTTP/2 has another format. A text request that claims either is
  // neither.
  if (httpVersionMajor > 1) return { status: 505, reason: 'Use HTTP/1.1 or HTTP/1.0.' }
  if (httpVersionMajor < 1) return { status: 400, reason: 'The request does not name its HTTP version.' }
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') {
      // RFC 9112 §3.2: more than one Host is an error, not a choice.
      if (++hosts > 1) return { status: 400, reason: 'The request names more than one host.' }
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      const fault = codingFault(request, rawHeaders[i + 1] as string)
      if (fault) return fault
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      // RFC 9110 §8.6: a number that JavaScript cannot represent exactly would change when it is read.
      if (!Number.isSafeInteger(Number(rawHeaders[i + 1]))) return { status: 413, reason: 'The body is too large.' }
    }
  }
  return undefined
}

/**
 * Checks Transfer-Encoding (RFC 9112 §6.1). Codings other than chunked would reach the application undecoded. With
 * HTTP/1.0 the framing cannot be trusted.
 */
function codingFault({ httpVersionMinor }: Framed, value: string): FramingFault | undefined {
  if (httpVersionMinor === 0) return { status: 400, reason: 'HTTP/1.0 does not support Transfer-Encoding.' }
  if (value.trim().toLowerCase() !== 'chunked')
    return { status: 501, reason: 'Only chunked transfer coding is supported.' }
  return undefined
}
