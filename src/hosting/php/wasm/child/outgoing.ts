import { EventEmitter } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import type { Duplex } from 'node:stream'

/** The way out of the sandbox: HTTP/2 CONNECT streams over one inherited socket. The parent resolves, checks and connects. */
export interface Outgoing {
  /** What emscripten's socket layer calls before a connection: the address in its own URL form. */
  addressOf(socket: { type: number }, host: string, port: number): string
  open(authority: string): ClientHttp2Stream
  /**
   * php-wasm numbers the names that it "resolved" in one byte; its second 256 names give no valid address. The process is
   * replaced before.
   */
  namesUsedUp(): boolean
}

const mostNames = 200
const streamSocket = 1

/** @param socket the inherited socket, opened at the first connection only */
export function outgoingOver(socket: () => Duplex): Outgoing {
  let session: ClientHttp2Session | undefined
  const names = new Set<string>()
  return {
    addressOf(socketOfPhp, host, port) {
      if (socketOfPhp.type !== streamSocket) throw new Error('only TCP goes out')
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

/** A class that looks like a WebSocket of the `ws` package to emscripten and is one outgoing connection. */
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

    /** The other side has ended it, or it never came about: then PHP is told that it was refused. */
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
