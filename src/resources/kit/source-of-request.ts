import type { RecordedRequest } from '../../platform/http/endpoint.ts'
import type { Caller } from './caller.ts'

/** The requester, as stored with an operation. */
export interface Source {
  readonly caller: Caller
  readonly request: RecordedRequest
}

/** Returns what is stored of a request: nothing that could be reused, such as its token. */
export const sourceOfRequest = (caller: Caller, { id, ipAddress, userAgent }: RecordedRequest): Source => ({
  caller,
  request: { id, ipAddress, userAgent, headers: {} },
})
