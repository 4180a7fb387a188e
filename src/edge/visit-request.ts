import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** The parts of a request that the edge uses, over any HTTP version. */
export interface VisitRequest
  extends Pick<
    IncomingMessage,
    | 'method'
    | 'url'
    | 'headers'
    | 'rawHeaders'
    | 'httpVersion'
    | 'httpVersionMajor'
    | 'httpVersionMinor'
    | 'complete'
    | 'destroyed'
    | 'readableLength'
  > {
  readonly socket: Socket
  /** As the client sends it. HTTP/1 does not have it. */
  readonly scheme?: string | undefined
  on(event: 'readable', listener: () => void): unknown
  off(event: 'readable', listener: () => void): unknown
  resume(): unknown
  iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Buffer>
}
