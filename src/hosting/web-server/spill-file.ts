import type { FileHandle } from 'node:fs/promises'
import type { Share } from '../../platform/budgets/budget.ts'
import { openNameless } from '../../platform/files/nameless-file.ts'

const PIECE_BYTES = 1 << 16

/**
 * A first-in, first-out queue in an unnamed file. It grows up to its share. From then on, new data replaces what has
 * been read. One writer and one reader may work at the same time.
 */
export class SpillFile {
  /** The number of bytes that wait to be read. */
  used = 0
  readonly #folder: string
  readonly #room: Share
  readonly #diskHasRoom: () => boolean
  #file: FileHandle | undefined
  /** The position of the oldest byte. */
  #start = 0
  #fileBytes = 0

  constructor(folder: string, room: Share, diskHasRoom: () => boolean = () => true) {
    this.#folder = folder
    this.#room = room
    this.#diskHasRoom = diskHasRoom
  }

  /** Writes as much as there is space for. @returns how much that was; also 0 when the disk is full */
  async write(bytes: Buffer): Promise<number> {
    const { at, room } = this.#place(bytes.length)
    if (room === 0) return 0
    try {
      this.#file ??= await openNameless(this.#folder)
      for (let done = 0; done < room; )
        done += (await this.#file.write(bytes, done, room - done, at + done)).bytesWritten
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return 0
      throw error
    }
    this.used += room
    return room
  }

  /** Returns the oldest bytes, at most 64 kB. */
  async read(): Promise<Buffer> {
    const length = Math.min(PIECE_BYTES, this.used, this.#fileBytes - this.#start)
    const piece = Buffer.allocUnsafe(length)
    for (let done = 0; done < length; ) {
      const { bytesRead } = await (this.#file as FileHandle).read(piece, done, length - done, this.#start + done)
      if (bytesRead === 0) throw new Error('a file of Stead’s own was cut short')
      done += bytesRead
    }
    this.used -= length
    this.#start += length
    if (this.#start === this.#fileBytes) this.#start = 0
    return piece
  }

  /** Must be called when nothing reads or writes any longer. */
  async close(): Promise<void> {
    await this.#file?.close()
    this.#room.free()
  }

  #place(wanted: number): { at: number; room: number } {
    if (this.used === 0) this.#start = 0
    const end = this.#start + this.used
    // The data has wrapped around to the front, so the part that has been read is free.
    if (end > this.#fileBytes) return { at: end - this.#fileBytes, room: Math.min(wanted, this.#fileBytes - this.used) }
    const more = end + wanted - this.#fileBytes
    if (more > 0 && this.#diskHasRoom() && this.#room.take(more)) this.#fileBytes += more
    if (end < this.#fileBytes) return { at: end, room: Math.min(wanted, this.#fileBytes - end) }
    // Not for small gains, because a file that has wrapped around cannot grow when there is space again.
    return { at: 0, room: this.#start < this.#fileBytes / 2 ? 0 : Math.min(wanted, this.#start) }
  }
}
