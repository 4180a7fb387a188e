import type { Socket } from 'node:net'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { type Refused, refusalOf } from './refused.ts'
import { type Answer, MOST_READ, type Requests, send } from './requests.ts'

const { STATUS_CODE } = ssh2.utils.sftp

/** Requests, and bytes of them, that wait before nothing more is read of the connection. */
const MANY = 64
const MANY_BYTES = 2 << 20
/** Who takes no answers and goes on asking is cut off here: its connection must be read, for it may take them later. */
const MOST = 1024
const MOST_BYTES = 16 << 20
/** What waits in the connection before nothing more is answered. */
const MOST_UNSENT = 1 << 20
const LOOK_AGAIN_MS = 20

const STATUS: Record<Refused['kind'], number> = {
  missing: STATUS_CODE.NO_SUCH_FILE,
  denied: STATUS_CODE.PERMISSION_DENIED,
  failure: STATUS_CODE.FAILURE,
  unsupported: STATUS_CODE.OP_UNSUPPORTED,
  end: STATUS_CODE.EOF,
}

export interface ChannelOptions {
  readonly socket: Socket
  readonly requests: Requests
  /** Nothing is done before. */
  readonly entered: Promise<void>
  /** Something was asked for, or answered. */
  readonly onActivity: () => void
  readonly log: { error(facts: object, message: string): void }
}

/** Pieces of a file that were asked for one behind the other are read and written together, up to so much: a turn of the disk is what takes long. */
const TOGETHER_BYTES = 1 << 20

interface Waiting {
  readonly id: number
  readonly work: () => Promise<Answer>
}

/** A piece of a file that is read or written. */
interface Piece {
  readonly id: number
  readonly handle: Buffer
  readonly offset: number
  readonly length: number
  /** What is written. */
  readonly data?: Buffer
}

/** What it holds while it waits. */
const bytesOf = (waiting: Waiting | Piece): number => ('work' in waiting ? 0 : (waiting.data?.length ?? 0))

/** What the pinned release of ssh2 has and does not show; tests see when it has gone. */
interface Inner {
  /** Answers that the client's window has no room for. */
  readonly _buffer?: readonly unknown[]
  readonly _protocol?: { exitStatus(channel: number, status: number): void }
  readonly outgoing?: { readonly id: number; readonly state: string }
}

/** One SFTP channel: does what it is asked one after the other, and takes no more than it can do. */
export class SftpChannel {
  readonly #sftp: SFTPWrapper
  readonly #options: ChannelOptions
  readonly #queue: (Waiting | Piece)[] = []
  #bytes = 0
  #working: Promise<void> | undefined
  #isEnded = false
  #isStalled = false

  constructor(sftp: SFTPWrapper, options: ChannelOptions) {
    this.#sftp = sftp
    this.#options = options
    this.#listen()
  }

  /** Begins nothing any more. @returns when what was begun has ended, and all that was open is closed */
  async end(): Promise<void> {
    this.#isEnded = true
    this.#queue.length = 0
    this.#options.socket.resume()
    await this.#working
    await this.#options.requests.closeAll()
  }

  #listen(): void {
    const { requests } = this.#options
    const sftp = this.#sftp
    const take = (id: number, work: () => Promise<Answer>) => this.#take({ id, work })
    sftp.on('OPEN', (id, path, flags, attrs) => take(id, () => requests.open(path, flags, attrs)))
    sftp.on('CLOSE', (id, handle) => take(id, () => requests.close(handle)))
    sftp.on('READ', (id, handle, offset, length) =>
      this.#take({ id, handle, offset, length: Math.min(length, MOST_READ) }),
    )
    sftp.on('WRITE', (id, handle, offset, data) => this.#take({ id, handle, offset, length: data.length, data }))
    sftp.on('OPENDIR', (id, path) => take(id, () => requests.openFolder(path)))
    sftp.on('READDIR', (id, handle) => take(id, () => requests.readFolder(handle)))
    sftp.on('LSTAT', (id, path) => take(id, () => requests.look(path)))
    sftp.on('STAT', (id, path) => take(id, () => requests.lookThrough(path)))
    sftp.on('FSTAT', (id, handle) => take(id, () => requests.lookOpen(handle)))
    sftp.on('SETSTAT', (id, path, attrs) => take(id, () => requests.change(path, attrs)))
    sftp.on('FSETSTAT', (id, handle, attrs) => take(id, () => requests.changeOpen(handle, attrs)))
    sftp.on('MKDIR', (id, path, attrs) => take(id, () => requests.makeFolder(path, attrs)))
    sftp.on('REMOVE', (id, path) => take(id, () => requests.removeFile(path)))
    sftp.on('RMDIR', (id, path) => take(id, () => requests.removeFolder(path)))
    sftp.on('RENAME', (id, from, to) => take(id, () => requests.move(from, to)))
    sftp.on('READLINK', (id, path) => take(id, () => requests.readLink(path)))
    sftp.on('REALPATH', (id, path) => take(id, () => requests.realPath(path)))
    sftp.on('SYMLINK', (id) => sftp.status(id, STATUS_CODE.OP_UNSUPPORTED, 'Links cannot be made by SFTP'))
    // else a client that says goodbye waits for ever
    sftp.on('end', () => {
      const { _protocol: protocol, outgoing } = sftp as Inner
      // scp goes by it
      if (outgoing?.state === 'open') protocol?.exitStatus(outgoing.id, 0)
      sftp.end()
    })
    sftp.on('error', () => {})
  }

  #take(waiting: Waiting | Piece): void {
    if (this.#isEnded) return
    this.#options.onActivity()
    this.#queue.push(waiting)
    this.#bytes += bytesOf(waiting)
    if (this.#queue.length > MOST || this.#bytes > MOST_BYTES) this.#options.socket.destroy()
    else if (this.#isFull && !this.#isStalled) this.#options.socket.pause()
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined
    })
  }

  get #isFull(): boolean {
    return this.#queue.length > MANY || this.#bytes > MANY_BYTES
  }

  async #work(): Promise<void> {
    await this.#options.entered
    for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
      await this.#untilSent()
      if (this.#isEnded) return
      if ('work' in next) await this.#answer(next)
      else {
        const pieces = this.#withFollowing(next)
        await this.#transfer(pieces)
        for (const piece of pieces) this.#bytes -= bytesOf(piece)
      }
      if (!this.#isFull) this.#options.socket.resume()
    }
  }

  /** Takes what continues a piece out of the queue. */
  #withFollowing(first: Piece): Piece[] {
    const pieces = [first]
    let end = first.offset + first.length
    for (;;) {
      const next = this.#queue[0]
      const continues =
        next !== undefined &&
        !('work' in next) &&
        (next.data === undefined) === (first.data === undefined) &&
        next.offset === end &&
        next.handle.equals(first.handle) &&
        end + next.length - first.offset <= TOGETHER_BYTES
      if (!continues) return pieces
      pieces.push(next)
      this.#queue.shift()
      end += next.length
    }
  }

  /** When not all can be done, each is tried by itself: as many as there is room for. */
  async #transfer(pieces: readonly Piece[]): Promise<void> {
    const answers = pieces.length > 1 ? await this.#moveAll(pieces).catch(() => []) : []
    const { socket } = this.#options
    // one call of the system for all packets
    socket.cork()
    try {
      for (const [at, piece] of pieces.entries()) {
        const work = async () => answers[at] ?? ((await this.#moveAll([piece]))[0] as Answer)
        await this.#answer({ id: piece.id, work })
      }
    } finally {
      socket.uncork()
    }
  }

  async #moveAll(pieces: readonly Piece[]): Promise<Answer[]> {
    const { requests } = this.#options
    const { handle, offset } = pieces[0] as Piece
    const written = pieces.flatMap(({ data }) => data ?? [])
    if (written.length === 0)
      return requests.read(
        handle,
        offset,
        pieces.map(({ length }) => length),
      )
    const answer = await requests.write(handle, offset, written)
    return pieces.map(() => answer)
  }

  async #answer({ id, work }: Waiting): Promise<void> {
    try {
      const answer = await work()
      this.#options.onActivity()
      if (!this.#isEnded) send(this.#sftp, id, answer)
    } catch (error) {
      const refusal = refusalOf(error)
      if (!refusal) this.#options.log.error({ err: error }, 'an SFTP request failed')
      const { kind, message } = refusal ?? { kind: 'failure' as const, message: 'That failed for an unknown reason' }
      if (!this.#isEnded) this.#sftp.status(id, STATUS[kind], message)
    }
  }

  /** A client that takes no answers gets no more made: they would all wait in memory. */
  async #untilSent(): Promise<void> {
    const { socket } = this.#options
    while (!this.#isEnded && !socket.destroyed) {
      this.#isStalled = ((this.#sftp as Inner)._buffer?.length ?? 0) > 0
      if (!this.#isStalled && socket.writableLength <= MOST_UNSENT) return
      // what it says may be that it takes more
      if (this.#isStalled) socket.resume()
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }
}
