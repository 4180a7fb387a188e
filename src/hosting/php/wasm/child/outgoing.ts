import { EventEmitter } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { Duplex } from 'node:stream'

/**
 * The way out of the sandbox: HTTP/2 CONNECT streams over one inherited socket. The parent resolves, checks, and
 * connects.
 */
export interface Outgoing {
  /** Returns the address in emscripten's own URL form. Emscripten's socket layer calls it before a connection. */
  addressOf(socket: { type: number }, host: string, port: number): string
  open(authority: string): ClientHttp2Stream
  /**
   * Returns whether the process must be replaced soon. php-wasm numbers the names that it "resolved" in one byte, and
   * its second 256 names would give no valid address.
   */
  namesUsedUp(): boolean
}

const mostNames = 200
const streamSocket = 1

/** @param socket returns the inherited socket; called at the first connection */
export function outgoingOver(socket: () => Duplex): Outgoing {
  let session: ClientHttp2Session | undefined
  const names = new Set<string>()
  return {
    addressOf(socketOfPhp, host, port) {
      if (socketOfPhp.type !== streamSocket) throw new Error('only outgoing TCP is possible')
      names.add(host)
      return `ws://${host}:${port}`
    },
    open(authority) {
      if (!session) {
        session = connect('http://stead', { createConnection: socket, settings: { initialWindowSize: 1 << 20 } })
        session.on('error', () => {})
      }
      return session.request({ ':method': 'CONNECT', ':authority': authority }, { endStream: false })
    },
    namesUsedUp: () => names.size >= mostNames,
  }
}

/** Creates a class that looks like a WebSocket of the `ws` package to emscripten, and is one outgoing connection. */
export function connectionClass(outgoing: Outgoing) {
  return class Connection extends EventEmitter {
    readonly CONNECTING = 0
    readonly OPEN = 1
    readonly CLOSING = 2
    readonly CLOSED = 3
    readyState = 0
    binaryType = 'arraybuffer'
    readonly url: string
    readonly #stream: ClientHttp2Stream

    constructor(url: string) {
      super()
      this.setMaxListeners(0)
      this.url = url
      this.#stream = outgoing.open(url.slice('ws://'.length))
      this.#stream.on('response', (headers) => {
        if (headers[':status'] !== 200) return this.#end()
        this.readyState = this.OPEN
        this.emit('open')
      })
      this.#stream.on('data', (chunk: Buffer) => this.emit('message', chunk, true))
      this.#stream.on('error', () => this.#end())
      this.#stream.on('end', () => this.#end())
      this.#stream.on('close', () => this.#end())
    }

    send(bytes: ArrayBuffer): void {
      if (!this.#stream.destroyed && !this.#stream.writableEnded) this.#stream.write(Buffer.from(bytes))
    }

    close(): void {
      if (!this.#stream.writableEnded) this.#stream.end()
      this.#finish()
    }

    setSocketOpt(): void {}

    addEventListener(event: string, listener: () => void): void {
      this.on(event, listener)
    }

    removeEventListener(event: string, listener: () => void): void {
      this.off(event, listener)
    }

    /**
     * Handles a connection that the other side has ended, or that was never established: then PHP sees it as refused.
     */
    #end(): void {
      const wasConnecting = this.readyState === this.CONNECTING
      this.#finish(wasConnecting)
      this.#stream.close()
    }

    #finish(isRefused = false): void {
      if (this.readyState === this.CLOSED) return
      this.readyState = this.CLOSED
      if (isRefused) this.emit('error', new Error('refused'))
      this.emit('close')
    }
  }
}
