import { close, type Dir, fstatSync, ftruncate, futimes, read, type Stats, writev } from 'node:fs'
import { promisify } from 'node:util'
import type { Pinned } from '../site-files/stage/pin.ts'
import { Refused } from './refused.ts'
import type { WriteRoom } from './write-room.ts'

const [readFd, writeFd] = [promisify(read), promisify(writev)]
const [closeFd, setLength, setTimes] = [promisify(close), promisify(ftruncate), promisify(futimes)]

/** An open file of a client. */
export class ClientFile {
  readonly fd: number
  readonly #room: Pick<WriteRoom, 'take'> | undefined
  readonly #appends: boolean
  readonly canWrite: boolean
  #isOpen = true

  constructor(fd: number, options: { room?: Pick<WriteRoom, 'take'>; append?: boolean; write?: boolean } = {}) {
    this.fd = fd
    this.#room = options.room
    this.#appends = options.append === true
    this.canWrite = options.write === true || this.#appends
  }

  /** Returns fewer bytes at the end of the file, and none beyond it. */
  async read(offset: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length)
    const { bytesRead } = await readFd(this.fd, bytes, 0, length, offset)
    return bytes.subarray(0, bytesRead)
  }

  /** Writes consecutive pieces. A failed write may be partial. */
  async write(offset: number, pieces: readonly Buffer[]): Promise<void> {
    if (!this.canWrite) throw new Refused('denied', 'The file is not open for writing')
    const { size } = this.stats()
    let at = this.#appends ? size : offset
    const end = at + pieces.reduce((sum, { length }) => sum + length, 0)
    if (!Number.isSafeInteger(end)) throw new Refused('failure', 'The file would be too large')
    if (end > size) await this.#room?.take(end - size)
    for (let rest = pieces.filter(({ length }) => length > 0); rest.length > 0; ) {
      const { bytesWritten } = await writeFd(this.fd, rest, this.#appends ? undefined : at)
      at += bytesWritten
      rest = without(rest, bytesWritten)
    }
  }

  async setSize(size: number): Promise<void> {
    if (!this.canWrite) throw new Refused('denied', 'The file is not open for writing')
    if (!Number.isSafeInteger(size)) throw new Refused('failure', 'The file would be too large')
    const before = this.stats().size
    if (size > before) await this.#room?.take(size - before)
    await setLength(this.fd, size)
  }

  setTimes = ({ atime, mtime }: { atime: number; mtime: number }): Promise<void> => setTimes(this.fd, atime, mtime)

  stats = (): Stats => fstatSync(this.fd)

  /** Idempotent. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    await closeFd(this.fd)
  }
}

/** Returns the rest of the pieces after this many bytes. */
function without(pieces: readonly Buffer[], bytes: number): Buffer[] {
  let gone = bytes
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(gone, piece.length))
    gone -= piece.length - rest.length
    return rest.length > 0 ? [rest] : []
  })
}

/** An entry of a folder, as clients list it. */
export interface FolderEntry {
  readonly name: string
  readonly stats: Stats
}

/** Entries per answer. Even with the longest names, an answer stays below what every client accepts. */
const ENTRIES = 40

/** An open folder of a client. */
export class OpenFolder {
  readonly #folder: Pinned
  readonly #entries: Dir
  readonly #look: (name: string, at: string) => Promise<Stats | undefined>
  #isOpen = true

  constructor(folder: Pinned, entries: Dir, look: (name: string, at: string) => Promise<Stats | undefined>) {
    this.#folder = folder
    this.#entries = entries
    this.#look = look
  }

  /** Returns the next entries. Empty at the end. */
  async next(): Promise<FolderEntry[]> {
    const found: FolderEntry[] = []
    while (found.length < ENTRIES) {
      const entry = await this.#entries.read()
      if (!entry) break
      const { name } = entry
      // The name is not valid UTF-8, so nobody could request it.
      if (name.includes('\ufffd')) continue
      const stats = await this.#look(name, `${this.#folder.path}/${name}`)
      if (stats) found.push({ name, stats })
    }
    return found
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#folder.close()
    await this.#entries.close()
  }
}
