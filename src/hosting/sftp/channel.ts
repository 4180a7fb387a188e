import type { Socket } from 'node:net'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { type Refused, sftpRefusal } from './refused.ts'
import { MOST_READ, type Requests, type SftpAnswer, sendSftpAnswer } from './requests.ts'

const { STATUS_CODE } = ssh2.utils.sftp

/** Waiting requests, and their bytes, above which Stead stops reading from the connection. */
const MANY = 64
const MANY_BYTES = 2 << 20
/**
 * A client that accepts no answers but keeps sending requests is disconnected at these limits. Stead must read from it,
 * because it may say that it accepts answers again.
 */
const MOST = 1024
const MOST_BYTES = 16 << 20
/** Unsent bytes above which Stead answers no more requests. */
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
  /** Nothing runs before this resolves. */
  readonly entered: Promise<void>
  /** Called for every request and every answer. */
  readonly onActivity: () => void
  readonly log: { error(facts: object, message: string): void }
}

/**
 * The most bytes of consecutive requests that are read or written together, because each disk access has a high fixed
 * cost.
 */
const TOGETHER_BYTES = 1 << 20

interface Waiting {
  readonly id: number
  readonly work: () => Promise<SftpAnswer>
}

/** A piece of a file to read or write. */
interface Piece {
  readonly id: number
  readonly handle: Buffer
  readonly offset: number
  readonly length: number
  /** Set for a write. */
  readonly data?: Buffer
}

/** Returns the bytes that it holds while it waits. */
const bytesOf = (waiting: Waiting | Piece): number => ('work' in waiting ? 0 : (waiting.data?.length ?? 0))

/** Private parts of the pinned release of ssh2. Tests fail if they disappear. */
interface Inner {
  /** Answers that do not fit into the client's window. */
  readonly _buffer?: readonly unknown[]
  readonly _protocol?: { exitStatus(channel: number, status: number): void }
  readonly outgoing?: { readonly id: number; readonly state: string }
}

/** One SFTP channel. Runs its requests one at a time, and accepts only as many as it can handle. */
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

  /**
   * Starts nothing more.
   * @returns a promise that resolves when current requests have ended and all open files are closed
   */
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
    const take = (id: number, work: () => Promise<SftpAnswer>) => this.#take({ id, work })
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
    sftp.on('SYMLINK', (id) => sftp.status(id, STATUS_CODE.OP_UNSUPPORTED, 'SFTP cannot create links'))
    // Without this, a client that ends the session waits forever.
    sftp.on('end', () => {
      const { _protocol: protocol, outgoing } = sftp as Inner
      // scp needs the exit status.
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

  /** Removes the pieces that continue the first one from the queue. */
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

  /** If not all can be done together, tries each on its own, so that as many as fit are done. */
  async #transfer(pieces: readonly Piece[]): Promise<void> {
    const answers = pieces.length > 1 ? await this.#moveAll(pieces).catch(() => []) : []
    const { socket } = this.#options
    // One system call for all packets.
    socket.cork()
    try {
      for (const [at, piece] of pieces.entries()) {
        const work = async () => answers[at] ?? ((await this.#moveAll([piece]))[0] as SftpAnswer)
        await this.#answer({ id: piece.id, work })
      }
    } finally {
      socket.uncork()
    }
  }

  async #moveAll(pieces: readonly Piece[]): Promise<SftpAnswer[]> {
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
      if (!this.#isEnded) sendSftpAnswer(this.#sftp, id, answer)
    } catch (error) {
      const refusal = sftpRefusal(error)
      if (!refusal) this.#options.log.error({ err: error }, 'an SFTP request failed')
      const { kind, message } = refusal ?? { kind: 'failure' as const, message: 'That failed for an unknown reason' }
      if (!this.#isEnded) this.#sftp.status(id, STATUS[kind], message)
    }
  }

  /** Waits until the client accepts answers, because more of them would pile up in memory. */
  async #untilSent(): Promise<void> {
    const { socket } = this.#options
    while (!this.#isEnded && !socket.destroyed) {
      this.#isStalled = ((this.#sftp as Inner)._buffer?.length ?? 0) > 0
      if (!this.#isStalled && socket.writableLength <= MOST_UNSENT) return
      // Its next message may say that it accepts more.
      if (this.#isStalled) socket.resume()
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
    }
  }
}
