const notConnected = 53 // ENOTCONN in emscripten's numbering (WASI)
const brokenPipe = 64 // EPIPE

/** Emscripten's socket operations, one object for all sockets. */
export interface SocketOperations {
  sendmsg(socket: WasmSocket, ...rest: unknown[]): number
  removePeer(socket: WasmSocket, peer: { readonly socket: { readonly readyState: number } }): void
}

/** Emscripten's errors. */
export interface WasmErrors {
  ErrnoError: new (errno: number) => Error
}

/** A socket as emscripten sees it. */
export interface WasmSocket {
  readonly type: number
  readonly sock_ops: SocketOperations
}

const closed = 3
const mended = new WeakSet<SocketOperations>()

/**
 * Makes connections end for curl as they do on any machine. Without this, curl waited until its own timeout:
 *
 * - A write to a connection that the other side has closed fails with "broken pipe". Emscripten reports "not
 * connected", which   OpenSSL takes for "not yet", and retries forever.
 * - A refused connection can still be queried for its error. Emscripten forgets it at once, and reports no error for a
 * socket   without a connection.
 */
export function mendSockets(files: WasmErrors, operations: SocketOperations): void {
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
