import type { WasmFileSystem } from './loader.ts'

const notConnected = 53 // ENOTCONN in emscripten's numbering (WASI)
const brokenPipe = 64 // EPIPE

/** What emscripten does with its sockets; one for all of them. */
export interface SocketOperations {
  sendmsg(socket: WasmSocket, ...rest: unknown[]): number
  removePeer(socket: WasmSocket, peer: { readonly socket: { readonly readyState: number } }): void
}

/** A socket as emscripten sees it. */
export interface WasmSocket {
  readonly type: number
  readonly sock_ops: SocketOperations
}

const closed = 3
const mended = new WeakSet<SocketOperations>()

/**
 * Has connections end for curl as they do on any machine; it waited until its own time-out:
 *
 * - Who writes to a connection that the other side has closed is told "broken pipe". Emscripten says "not connected", which OpenSSL
 *   takes for "not yet", and tries again for ever.
 * - A connection that was refused is still one that can be asked what became of it. Emscripten forgets it at once, and says of a socket
 *   without a connection that nothing has happened.
 */
export function mendSockets(files: Pick<WasmFileSystem, 'ErrnoError'>, operations: SocketOperations): void {
  if (mended.has(operations)) return
  mended.add(operations)
  const { sendmsg, removePeer } = operations
  operations.sendmsg = (socket, ...rest) => {
    try {
      return sendmsg(socket, ...rest)
    } catch (error) {
      throw (error as { errno?: number }).errno === notConnected ? new files.ErrnoError(brokenPipe) : error
    }
  }
  operations.removePeer = (socket, peer) => {
    if (peer.socket.readyState !== closed) removePeer(socket, peer)
  }
}
