import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { PhpCrashed, PhpNotReached } from '../runtime.ts'

/**
 * The client side of FastCGI as php-fpm implements it: one request per connection, in the responder role. The
 * specification leaves three things open (php-src, `main/fastcgi.c`): php-fpm reads each PARAMS record separately, so
 * no pair may span two. A kept connection occupies one of its children permanently. Closing the connection aborts the
 * request.
 */
const Kind = { begin: 1, end: 3, params: 4, stdin: 5, stdout: 6, stderr: 7 } as const

const headerBytes = 8
const mostRecordBytes = 65_535
/** Bytes sent to PHP at once. A record holds no more, and the sender waits until it is accepted. */
const bodyPieceBytes = 65_528
/** A longer head is a fault or an attack. */
const mostHeadBytes = 1 << 20
/** Bytes kept of a script's stderr, which is otherwise dropped. */
const keptErrorBytes = 4096
/** Bytes read from PHP ahead of the reader. */
const readAheadBytes = 1 << 17
const responder = 1
/** Errors of a connection that was never established. */
const refused = new Set<string | undefined>(['ECONNREFUSED', 'ENOENT'])
const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')

export interface FastCgiRequest {
  /** CGI variables such as SCRIPT_FILENAME. */
  readonly params: Iterable<readonly [string, string]>
  /**
   * The body of `bodyBytes` bytes. It is complete already, because php-fpm drops clients that send nothing for five
   * seconds.
   */
  readonly body: Readable | Buffer | null
  readonly bodyBytes: number
}

export interface FastCgiResponse {
  readonly status: number
  /** Name, value, name, value, … */
  readonly headers: readonly string[]
  readonly body: Readable
}

/** A request in progress. */
export interface FastCgiCall {
  readonly socket: Socket
  /** False while nothing was sent. */
  readonly isReached: boolean
  readonly head: Promise<FastCgiResponse>
  /** Resolves when PHP has finished, whether or not anyone reads its answer. */
  readonly finished: Promise<void>
  /** Aborts the request. PHP ends when it next prints something. */
  fail(error: Error): void
}

/** Encodes one record. */
export function encodeRecord(kind: number, content: Buffer): Buffer {
  const header = Buffer.from([1, kind, 0, 1, content.length >> 8, content.length & 255, 0, 0])
  return Buffer.concat([header, content])
}

/**
 * Encodes the variables in records that end between pairs.
 * @throws PhpCrashed for a pair that does not fit into a record
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
 * @param whyLost called when the connection is lost, because the owner of the process knows better why, and when it has
 *   ended
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
  // Most requests have no body, so everything is sent at once.
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

/**
 * Waits until the bytes are accepted. A script may answer without reading its body, so a closed socket is not an error
 * here.
 */
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

/**
 * Assembles the answer from records. They come from php-fpm, which runs untrusted code, so they may contain anything.
 */
class Answer implements FastCgiCall {
  readonly head: Promise<FastCgiResponse>
  readonly finished: Promise<void>
  errors = ''
  readonly socket: Socket
  readonly #head = Promise.withResolvers<FastCgiResponse>()
  readonly #finished = Promise.withResolvers<void>()
  readonly #body: Readable
  #rest: Buffer = Buffer.alloc(0)
  /** Undefined once it is complete. */
  #headBytes: HeadBytes | undefined = new HeadBytes()
  #isOver = false
  /** State of the record that is being read. */
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
        // Nothing reads the rest. PHP still finishes, and its output is dropped.
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
    // The specification says to ignore records of other types.
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

/** A head that arrives in pieces, possibly as many as it has bytes. Each byte is scanned or copied only a few times. */
class HeadBytes {
  #bytes = Buffer.allocUnsafe(4096)
  #length = 0

  /** @returns the head and the bytes after it once it is complete @throws PhpCrashed when it is too long */
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
    // Without any header, the head is an empty line.
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
