import type { IncomingMessage } from 'node:http'

type Framed = Pick<IncomingMessage, 'rawHeaders' | 'httpVersionMajor' | 'httpVersionMinor'>

/** Why a request cannot be read as the one that its sender meant. */
export interface FramingFault {
  readonly status: 400 | 413 | 501 | 505
  readonly reason: string
}

/**
 * What Node's parser lets through and a server must not: whoever stands before it may have read another request, another length or another
 * host (request smuggling).
 * @returns undefined when there is nothing to say
 */
export function framingFault(request: Framed): FramingFault | undefined {
  const { rawHeaders, httpVersionMajor } = request
  // RFC 9110 §15.6.6. HTTP/0.9 has no head, and 2 is spoken otherwise: what says so in text is neither.
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
      // RFC 9110 §8.6: not a number that is another one after it was read
      if (!Number.isSafeInteger(Number(rawHeaders[i + 1]))) return { status: 413, reason: 'The body is too large.' }
    }
  }
  return undefined
}

/** RFC 9112 §6.1: other codings than chunked would reach the application undecoded; with HTTP/1.0 the framing cannot be trusted. */
function codingFault({ httpVersionMinor }: Framed, value: string): FramingFault | undefined {
  if (httpVersionMinor === 0) return { status: 400, reason: 'HTTP/1.0 does not support Transfer-Encoding.' }
  if (value.trim().toLowerCase() !== 'chunked')
    return { status: 501, reason: 'Only chunked transfer coding is supported.' }
  return undefined
}
