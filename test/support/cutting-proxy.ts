/**
 * PostgreSQL behind a proxy on loopback that can cut connections where it hurts most: around COMMIT.
 *
 *   const proxy = await openCuttingProxy(url, (statements) => (statements.some((each) => /notes/.test(each)) ? 'answer' : 'pass'))
 *   const database = await openDatabase({ url: proxy.url, file: '' })
 */
import { once } from 'node:events'
import { createServer, connect as dial, type Socket } from 'node:net'

/**
 * The fate of a COMMIT.
 * pass     reaches the server, and its answer the client
 * answer   the server commits, and the connection is cut instead of an answer
 * request  the connection is cut before the server gets it
 * hold     the client's connection is cut, and the server gets it when the test calls `release`, as on a slow network
 */
export type Cut = 'pass' | 'answer' | 'request' | 'hold'

export interface CuttingProxy {
  /** postgres:// address of the proxy. */
  readonly url: string
  /** How many COMMITs were cut. */
  readonly cuts: number
  /** Called at each COMMIT, with the texts of the transaction's statements. */
  decide: (statements: readonly string[]) => Cut
  /** While true, new connections are refused and existing ones are cut, except held ones. */
  isDown: boolean
  /**
   * While true, no byte passes in either direction, and no connection ends, as behind a firewall that drops packets.
   */
  isSilent: boolean
  /** Sends the held COMMITs. @returns when the server has answered each of them */
  release(): Promise<void>
  close(): Promise<void>
}

export async function openCuttingProxy(
  serverUrl: string,
  decide: CuttingProxy['decide'] = () => 'pass',
): Promise<CuttingProxy> {
  const server = new URL(serverUrl)
  const lines = new Set<Line>()
  const held = new Set<Line>()
  let cuts = 0
  let isDown = false
  let isSilent = false
  const listener = createServer((client) => {
    if (isDown) return void client.destroy()
    const upstream = dial(Number(server.port || 5432), server.hostname)
    const line: Line = new Line(client, upstream, (statements) => {
      const cut = proxy.decide(statements)
      if (cut !== 'pass') cuts++
      if (cut === 'hold') held.add(line)
      return cut
    })
    if (isSilent) line.stand()
    lines.add(line)
    upstream.once('close', () => {
      lines.delete(line)
      held.delete(line)
    })
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String((listener.address() as { port: number }).port)
  const proxy: CuttingProxy = {
    url: url.href,
    decide,
    get cuts() {
      return cuts
    },
    get isDown() {
      return isDown
    },
    set isDown(value) {
      isDown = value
      if (value) for (const line of lines) if (!held.has(line)) line.destroy()
    },
    get isSilent() {
      return isSilent
    },
    set isSilent(value) {
      isSilent = value
      for (const line of lines) value ? line.stand() : line.move()
    },
    async release() {
      const waiting = [...held]
      held.clear()
      await Promise.all(waiting.map((line) => line.release()))
    },
    async close() {
      for (const line of lines) line.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
  return proxy
}

/** A client's connection and the one to the server. */
class Line {
  readonly #client: Socket
  readonly #upstream: Socket
  readonly #decide: (statements: readonly string[]) => Cut
  readonly #texts = new Map<string, string>()
  #statements: string[] = []
  #awaitsAnswer = false
  #heldBack: Buffer[] | undefined

  constructor(client: Socket, upstream: Socket, decide: (statements: readonly string[]) => Cut) {
    this.#client = client
    this.#upstream = upstream
    this.#decide = decide
    const fromClient = messages(false)
    const fromServer = messages(true)
    client.on('data', (chunk) => {
      for (const message of fromClient(chunk)) this.#toServer(message)
    })
    upstream.on('data', (chunk) => {
      for (const message of fromServer(chunk)) this.#toClient(message)
    })
    for (const socket of [client, upstream]) socket.on('error', () => {})
    upstream.on('close', () => client.destroy())
    client.on('close', () => {
      if (!this.#heldBack) upstream.destroy()
    })
  }

  destroy(): void {
    this.#heldBack = undefined
    this.#client.destroy()
    this.#upstream.destroy()
  }

  /** Holds everything back until {@link move}. */
  stand(): void {
    for (const socket of [this.#client, this.#upstream]) socket.pause()
  }

  move(): void {
    for (const socket of [this.#client, this.#upstream]) socket.resume()
  }

  async release(): Promise<void> {
    for (const message of this.#heldBack ?? []) this.#upstream.write(message)
    // the answer to COMMIT is dropped, and the connection to the server can end
    await once(this.#upstream, 'data')
    this.destroy()
  }

  #toServer(message: Buffer): void {
    if (this.#heldBack) return void this.#heldBack.push(message)
    const text = this.#statementOf(message)
    if (text !== undefined) {
      if (/^begin\b/i.test(text)) this.#statements = []
      if (/^commit\b/i.test(text)) {
        const cut = this.#decide(this.#statements)
        if (cut === 'request') {
          this.destroy()
          return
        }
        if (cut === 'answer') this.#awaitsAnswer = true
        if (cut === 'hold') {
          this.#heldBack = [message, SYNC]
          this.#client.destroy()
          return
        }
      } else this.#statements.push(text)
    }
    this.#upstream.write(message)
  }

  #toClient(message: Buffer): void {
    if (
      this.#awaitsAnswer &&
      message[0] === LETTER.commandComplete &&
      message.toString('latin1', 5).startsWith('COMMIT')
    ) {
      this.destroy()
      return
    }
    if (!this.#client.destroyed) this.#client.write(message)
  }

  /** The statement that a message runs: a simple query, or a bind of one that was parsed before. */
  #statementOf(message: Buffer): string | undefined {
    const text = message.toString('utf8', 5)
    if (message[0] === LETTER.query) return text.slice(0, -1)
    if (message[0] === LETTER.parse) {
      const [name = '', sql = ''] = text.split('\0')
      this.#texts.set(name, sql)
    }
    return message[0] === LETTER.bind ? this.#texts.get(text.split('\0')[1] ?? '') : undefined
  }
}

const LETTER = { query: 0x51, parse: 0x50, bind: 0x42, commandComplete: 0x43 } as const
const SYNC = Buffer.from([0x53, 0, 0, 0, 4])

/**
 * Splits a stream into the protocol's messages: a letter, and a length that includes itself. A client's first message
 * has no letter.
 */
function messages(hasLetter: boolean): (chunk: Buffer) => Buffer[] {
  let rest = Buffer.alloc(0)
  let letter = hasLetter ? 1 : 0
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const whole: Buffer[] = []
    while (rest.length >= letter + 4) {
      const length = letter + rest.readInt32BE(letter)
      if (rest.length < length) break
      whole.push(rest.subarray(0, length))
      rest = rest.subarray(length)
      letter = 1
    }
    return whole
  }
}
