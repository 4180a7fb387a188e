import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** The requests of one connection. */
interface Line {
  isBusy: boolean
  /** Whatever comes now is not for us: the connection ends with what is in the line. */
  isClosed: boolean
  readonly waiting: (() => void)[]
}

/**
 * Requests of a connection are dealt with one after the other. Node hands all that are in a piece to the server at once; but a request
 * that may change something waits for those before it (RFC 9112 §9.3.2), and after an answer with `Connection: close` none
 * may be looked at any more (§9.6): the client was told that they are lost, and sends them again. Browsers do not pipeline,
 * so that nobody waits who did not ask for it.
 */
export class Turns {
  readonly #lines = new WeakMap<Duplex, Line>()
  readonly #mostWaiting: number

  /** @param mostWaiting requests of a connection behind the one that is being answered */
  constructor(mostWaiting: number) {
    this.#mostWaiting = mostWaiting
  }

  /**
   * Calls `begin` once all before it are answered, and never when one of them has ended the connection.
   * @param refuse called in its place when too many wait; it must end the connection
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

  /** Calls `act` once all before it are answered; it ends the connection. What comes after it is not looked at. */
  end(socket: Duplex, act: () => void): void {
    const line = this.#lineOf(socket)
    if (line.isClosed) return
    line.isClosed = true
    if (line.isBusy) line.waiting.push(act)
    else act()
  }

  /**
   * What Node says of a connection that it cannot read on (`clientError`): bytes that are no request get their answer in their turn; one
   * that breaks off or stays away while it is being answered gets none.
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
      // Node has ended the connection by now when the answer said so
      if (socket.destroyed || socket.writableEnded) {
        line.isClosed = true
        line.waiting.length = 0
      } else line.waiting.shift()?.()
    })
    act()
  }
}
