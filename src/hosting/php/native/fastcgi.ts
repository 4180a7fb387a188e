import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { PhpCrashed, PhpNotReached } from '../runtime.ts'

/**
 * The client's side of FastCGI as php-fpm speaks it: one request a connection, in the role of a responder. Three things that
 * the specification leaves open hold for php-fpm (php-src, `main/fastcgi.c`): it reads each PARAMS record by itself, so that no pair
 * may span two; a connection that it is to keep holds one of its children for good; and a request is given up by closing.
 */
const Kind = { begin: 1, end: 3, params: 4, stdin: 5, stdout: 6, stderr: 7 } as const

const headerBytes = 8
const mostRecordBytes = 65_535
/** Of what PHP is sent at once: a record holds no more, and whoever sends it waits until it is taken. */
const bodyPieceBytes = 65_528
/** A head that long is a fault or an attack. */
const mostHeadBytes = 1 << 20
/** Of what a script says to its errors, which goes nowhere. */
const keptErrorBytes = 4096
/** What is taken from PHP ahead of who reads it. */
const readAheadBytes = 1 << 17
const responder = 1
/** Errors of a connection that never was. */
const refused = new Set<string | undefined>(['ECONNREFUSED', 'ENOENT'])
const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')

export interface FastCgiRequest {
  /** Variables of CGI, such as SCRIPT_FILENAME. */
  readonly params: Iterable<readonly [string, string]>
  /** The whole body, of which there are `bodyBytes`; it is here already: php-fpm drops who sends nothing for five seconds. */
  readonly body: Readable | Buffer | null
  readonly bodyBytes: number
}

export interface FastCgiResponse {
  readonly status: number
  /** Name, value, name, value, … */
  readonly headers: readonly string[]
  readonly body: Readable
}

/** One request on its way. */
export interface FastCgiCall {
  readonly socket: Socket
  /** False as long as nothing of it was sent. */
  readonly isReached: boolean
  readonly head: Promise<FastCgiResponse>
  /** PHP is done with it, whoever reads its answer. */
  readonly finished: Promise<void>
  /** Gives it up. PHP ends when it next prints something. */
  fail(error: Error): void
}

/** One record as bytes. */
export function encodeRecord(kind: number, content: Buffer): Buffer {
  const header = Buffer.from([1, kind, 0, 1, content.length >> 8, content.length & 255, 0, 0])
  return Buffer.concat([header, content])
}

/**
 * The variables as records, none of which ends within a pair.
 * @throws PhpCrashed for a pair that fits none
 */
export function encodeParams(params: Iterable<readonly [string, string]>): Buffer {
  const records: Buffer[] = []
  let pairs: Buffer[] = []
  let length = 0
  const close = () => {
    if (length > 0) records.push(encodeRecord(Kind.params, Buffer.concat(pairs)))
    pairs = []
    length = 0
  }
  for (const [name, value] of params) {
    const pair = encodePair(Buffer.from(name), Buffer.from(value))
    if (pair.length > mostRecordBytes) throw new PhpCrashed(`${name} is too long for FastCGI`)
    if (length + pair.length > mostRecordBytes) close()
    pairs.push(pair)
    length += pair.length
  }
  close()
  return Buffer.concat([...records, encodeRecord(Kind.params, Buffer.alloc(0))])
}

function encodePair(name: Buffer, value: Buffer): Buffer {
  return Buffer.concat([encodeLength(name.length), encodeLength(value.length), name, value])
}

function encodeLength(length: number): Buffer {
  if (length < 128) return Buffer.from([length])
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE((length | 0x80_00_00_00) >>> 0)
  return bytes
}

/**
 * Sends a request to the php-fpm that listens at `path`.
 * @param whyLost asked when the connection is lost: who ended PHP knows better why, and when it is gone
 */
export function callFastCgi(
  path: string,
  request: FastCgiRequest,
  whyLost: (error: PhpCrashed) => Promise<Error> = async (error) => error,
): FastCgiCall {
  const socket = connect(path)
  const answer = new Answer(socket)
  const lost = (message: string) => void whyLost(new PhpCrashed(message.trim())).then((error) => answer.fail(error))
  socket.on('error', (error: NodeJS.ErrnoException) => {
    if (refused.has(error.code)) answer.fail(new PhpNotReached(`PHP does not listen: ${error.message}`))
    else lost(`PHP closed the connection: ${error.message}`)
  })
  socket.on('close', () => {
    if (!answer.isOver) lost(`PHP ended in the middle of a request ${answer.errors}`)
  })
  socket.on('data', (chunk: Buffer) => {
    try {
      answer.take(chunk)
    } catch (error) {
      answer.fail(error as Error)
    }
  })
  send(socket, request).catch((error: Error) => answer.fail(error))
  return answer
}

async function send(socket: Socket, { params, body, bodyBytes }: FastCgiRequest): Promise<void> {
  const begin = encodeRecord(Kind.begin, Buffer.from([0, responder, 0, 0, 0, 0, 0, 0]))
  const end = encodeRecord(Kind.stdin, Buffer.alloc(0))
  // most have no body: all of it at once
  if (bodyBytes === 0) return write(socket, Buffer.concat([begin, encodeParams(params), end]))
  await write(socket, Buffer.concat([begin, encodeParams(params)]))
  let left = bodyBytes
  for await (const chunk of body instanceof Buffer ? [body] : (body ?? [])) {
    for (let rest = chunk as Buffer; rest.length > 0 && left > 0; ) {
      const piece = rest.subarray(0, Math.min(bodyPieceBytes, left))
      rest = rest.subarray(piece.length)
      left -= piece.length
      await write(socket, encodeRecord(Kind.stdin, piece))
    }
    if (left === 0) break
  }
  if (left > 0) throw new PhpCrashed("the request's body broke off: fewer bytes than announced")
  await write(socket, end)
}

/** Waits until it is taken. A script that does not read its body answers all the same, so that a socket that closes is no error here. */
function write(socket: Socket, bytes: Buffer): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return Promise.resolve()
  return new Promise((resolve) => {
    const goOn = () => {
      socket.off('drain', goOn)
      socket.off('close', goOn)
      resolve()
    }
    socket.on('drain', goOn)
    socket.on('close', goOn)
  })
}

/** What comes back, put together from records. They come from php-fpm, in which strangers' code runs: they may hold anything. */
class Answer implements FastCgiCall {
  readonly head: Promise<FastCgiResponse>
  readonly finished: Promise<void>
  errors = ''
  readonly socket: Socket
  readonly #head = Promise.withResolvers<FastCgiResponse>()
  readonly #finished = Promise.withResolvers<void>()
  readonly #body: Readable
  #rest: Buffer = Buffer.alloc(0)
  /** Undefined once it is whole. */
  #headBytes: HeadBytes | undefined = new HeadBytes()
  #isOver = false
  /** Of the record that is being read. */
  #kind = 0
  #left = -1
  #padding = 0

  constructor(socket: Socket) {
    this.socket = socket
    this.head = this.#head.promise
    this.finished = this.#finished.promise
    for (const promise of [this.head, this.finished] as Promise<unknown>[]) promise.catch(() => {})
    this.#body = new Readable({
      highWaterMark: readAheadBytes,
      read: () => void socket.resume(),
      destroy(error, done) {
        // Nobody reads on: PHP still finishes what it does, and its output is dropped.
        socket.resume()
        done(error)
      },
    })
    this.#body.on('error', () => {})
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get isReached(): boolean {
    return !this.socket.connecting
  }

  take(chunk: Buffer): void {
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    while (!this.#isOver) {
      if (this.#left < 0) {
        if (rest.length < headerBytes) break
        this.#begin(rest)
        rest = rest.subarray(headerBytes)
      }
      if (this.#kind === Kind.end && rest.length < this.#left) break
      const content = rest.subarray(0, this.#left)
      rest = rest.subarray(content.length)
      this.#left -= content.length
      if (this.#kind !== Kind.end || this.#left === 0) this.#content(content)
      if (this.#left > 0) break
      const skipped = Math.min(this.#padding, rest.length)
      this.#padding -= skipped
      rest = rest.subarray(skipped)
      if (this.#padding > 0) break
      this.#left = -1
    }
    this.#rest = this.#isOver ? Buffer.alloc(0) : Buffer.from(rest)
  }

  fail(error: Error): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#head.reject(error)
    this.#finished.reject(error)
    this.#body.destroy(error)
    this.socket.destroy()
  }

  #begin(header: Buffer): void {
    if (header[0] !== 1) throw new PhpCrashed('PHP sent an invalid FastCGI message')
    this.#kind = header[1] as number
    this.#left = header.readUInt16BE(4)
    this.#padding = header[6] as number
    if (this.#kind === Kind.end && this.#left !== 8) throw new PhpCrashed('PHP sent a bad end of FastCGI')
  }

  #content(content: Buffer): void {
    if (this.#kind === Kind.stdout) this.#output(content)
    else if (this.#kind === Kind.stderr) this.errors = (this.errors + content.toString()).slice(-keptErrorBytes)
    else if (this.#kind === Kind.end) this.#end(content[4] as number)
    // records of other kinds are to be passed over, by the specification
  }

  #output(content: Buffer): void {
    if (content.length === 0) return
    if (!this.#headBytes) {
      this.#push(content)
      return
    }
    const whole = this.#headBytes.add(content)
    if (!whole) return
    this.#headBytes = undefined
    this.#head.resolve({ ...parseHead(whole.head), body: this.#body })
    this.#push(whole.rest)
  }

  #push(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#body.destroyed && !this.#body.push(bytes)) this.socket.pause()
  }

  #end(protocolStatus: number): void {
    if (protocolStatus !== 0) throw new PhpCrashed('PHP refused a request')
    if (this.#headBytes) throw new PhpCrashed(`PHP responded without a header ${this.errors}`.trim())
    this.#isOver = true
    if (!this.#body.destroyed) this.#body.push(null)
    this.#finished.resolve()
    this.socket.destroy()
  }
}

/** A head that comes in pieces, of which there may be as many as it has bytes: none is looked at or copied more than a few times. */
class HeadBytes {
  #bytes = Buffer.allocUnsafe(4096)
  #length = 0

  /** @returns the head, and what came after it, once it is whole; @throws PhpCrashed when it is too long */
  add(piece: Buffer): { head: string; rest: Buffer } | undefined {
    const length = this.#length + piece.length
    if (length > mostHeadBytes + mostRecordBytes) throw new PhpCrashed('the head of the answer is too long')
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * length)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    piece.copy(this.#bytes, this.#length)
    const known = this.#bytes.subarray(0, length)
    // without any header it is an empty line
    const isEmpty = length >= 2 && known.subarray(0, 2).equals(lineEnd)
    const at = isEmpty ? 0 : known.indexOf(headEnd, Math.max(0, this.#length - headEnd.length + 1))
    this.#length = length
    if (at < 0) return undefined
    return { head: known.toString('utf8', 0, at), rest: known.subarray(at + (isEmpty ? lineEnd : headEnd).length) }
  }
}

function parseHead(text: string): { status: number; headers: string[] } {
  let status = 200
  const headers: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const [name, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10)
    else headers.push(name, value)
  }
  return { status, headers }
}
