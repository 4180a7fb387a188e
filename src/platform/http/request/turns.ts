import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The requests of one connection. */
interface Line {
  isBusy: boolean
  /** Whether later requests are ignored: the connection ends after those in the line. */
  isClosed: boolean
  readonly waiting: (() => void)[]
}

/**
 * Handles the requests of a connection one after the other. Node passes all requests in a piece to the server at once.
 * But a request that may change something must wait for those before it (RFC 9112 §9.3.2).
 * After an answer with `Connection: close`, no later request may be handled (§9.6): the client treats them as lost and
 * sends them again. Browsers do not pipeline, so only clients that do have to wait.
 */
export class RequestTurns {
  readonly #lines = new WeakMap<Duplex, Line>()
  readonly #mostWaiting: number

  /** @param mostWaiting the most requests of a connection that wait while an earlier one is answered */
  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting
  }

  /**
   * Calls `begin` once all requests before it are answered, and never if one of them has ended the connection.
   * @param refuse called instead if too many are waiting; it must end the connection
   */
  take(response: ServerResponse, begin: () => void, refuse: () => void): void {
    const line = this.#lineOf(response.req.socket)
    if (line.isClosed) return
    if (!line.isBusy) {
      this.#run(line, response, begin)
      return
    }
    line.isClosed = line.waiting.length >= this.#mostWaiting
    const act = line.isClosed ? refuse : begin
    line.waiting.push(() => this.#run(line, response, act))
  }

  /** Calls `act`, which ends the connection, once all requests before it are answered. Later bytes are ignored. */
  end(socket: Duplex, act: () => void): void {
    const line = this.#lineOf(socket)
    if (line.isClosed) return
    line.isClosed = true
    if (line.isBusy) line.waiting.push(act)
    else act()
  }

  /**
   * Handles Node's `clientError`, a connection that it cannot read further. Malformed bytes get their answer in their
   * turn. A connection that breaks off or falls silent while its request is answered gets none.
   * @param answer ends the connection
   */
  fail(error: NodeJS.ErrnoException, socket: Duplex, answer: () => void): void {
    const isUnreadable = error.code?.startsWith('HPE_') && error.code !== 'HPE_INVALID_EOF_STATE'
    if (!isUnreadable && this.#lines.get(socket)?.isBusy) socket.destroy()
    else this.end(socket, answer)
  }

  #lineOf(socket: Duplex): Line {
    let line = this.#lines.get(socket)
    if (!line) {
      line = { isBusy: false, isClosed: false, waiting: [] }
      this.#lines.set(socket, line)
    }
    return line
  }

  #run(line: Line, response: ServerResponse, act: () => void): void {
    const { socket } = response.req
    line.isBusy = true
    response.once('close', () => {
      line.isBusy = false
      // If the answer said `Connection: close`, Node has ended the connection by now.
      if (socket.destroyed || socket.writableEnded) {
        line.isClosed = true
        line.waiting.length = 0
      } else line.waiting.shift()?.()
    })
    act()
  }
}
