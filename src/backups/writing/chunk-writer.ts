import { extname, join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { restThread, takeThread } from '../../platform/threads/resting-threads.ts'
import type { RepositoryKeys } from '../format/keys.ts'
import type { Pack } from '../format/pack.ts'
import type { ChunkRef, ContentPart, Cutting, FromWriter, ToWriter } from './writer-messages.ts'

export interface ChunkWriterOptions {
  readonly keys: RepositoryKeys
  /** The names of existing chunks, 32 bytes each. */
  readonly known: Uint8Array
  /** Stores a pack. */
  readonly onPack: (pack: Pack) => Promise<void>
}

/** Writes content into chunks. */
export interface ContentWriter {
  /** Resolves when there is space for more. The caller may then reuse the piece. */
  write(piece: Uint8Array): Promise<void>
  end(): Promise<readonly ChunkRef[]>
}

/** An open file, which is read from its beginning, whatever its file position. */
export interface ReadableFile {
  readonly fd: number
  readonly sizeBytes: number
}

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `writing-thread${extname(import.meta.filename)}`)

const BATCH_BYTES = 1 << 20
/** The most bytes that wait for the thread, or that it has to read. */
const MOST_WAITING_BYTES = 8 << 20
/** Two batches, so that the thread is not idle while its answer is handled. */
const MOST_SENT = 2
/** How many packs, of 16 MB each, are on their way to the storage. */
const MOST_PACKS = 2

const newBatch = () => new Uint8Array(new SharedArrayBuffer(BATCH_BYTES))
const isShared = (bytes: Uint8Array): bytes is Uint8Array<SharedArrayBuffer> =>
  bytes.buffer instanceof SharedArrayBuffer

interface Sent {
  readonly fileBytes: number
  readonly bytes: Uint8Array | undefined
}

/**
 * Turns content into chunks and packs, in a separate thread. An error of the thread or the storage fails all waiting
 * calls.
 */
export class ChunkWriter {
  readonly #thread: Worker
  readonly #onPack: ChunkWriterOptions['onPack']
  readonly #ends = new Map<number, PromiseWithResolvers<readonly ChunkRef[]>>()
  readonly #finished = Promise.withResolvers<void>()
  #contents = 0
  #batch = newBatch()
  /**
   * Finished batches. They are shared memory, and reused. New ones would make the garbage collector scan the whole heap
   * every few MB.
   */
  readonly #idle: Uint8Array<SharedArrayBuffer>[] = []
  /** The batches that the thread has, in its order. */
  readonly #sent: Sent[] = []
  #filled = 0
  #parts: ContentPart[] = []
  /** The bytes of the parts to be read from files. */
  #fileBytes = 0
  #waitingBytes = 0
  #packsUnderWay = 0
  #room: PromiseWithResolvers<void> | undefined
  #fault: { error: unknown } | undefined
  /** Whether it has finished, and the thread does other work. */
  #isReleased = false
  readonly #onMessage = (message: FromWriter) => this.#hear(message)
  readonly #onError = (error: unknown) => this.#fail(error)
  readonly #onExit = () => this.#fail(new Error('the thread that writes backups ended'))

  constructor({ keys, known, onPack }: ChunkWriterOptions) {
    this.#onPack = onPack
    this.#finished.promise.catch(() => {})
    this.#thread = takeThread(program)
    this.#thread.on('message', this.#onMessage).on('error', this.#onError).on('exit', this.#onExit)
    this.#thread.postMessage({ begin: { keys, known } } satisfies ToWriter)
  }

  /** Begins content. Several may be open at once. */
  content(cutting: 'file' | 'stream'): ContentWriter {
    const content = this.#contents++
    return {
      write: async (piece) => {
        for (let at = 0; at < piece.length; ) {
          await this.#forRoom()
          const part = piece.subarray(at, at + BATCH_BYTES - this.#filled)
          this.#batch.set(part, this.#filled)
          at += part.length
          this.#add(content, cutting, part.length, false)
        }
      },
      end: async () => {
        await this.#forRoom()
        this.#add(content, cutting, 0, true)
        return this.#endOf(content)
      },
    }
  }

  /**
   * Writes a file, which the thread reads, so that no content is transferred. It fails only after the thread has
   * stopped reading the file, so that the caller can close it.
   * @param before awaited before each piece
   */
  async file({ fd, sizeBytes }: ReadableFile, before: (piece: number) => Promise<void>): Promise<readonly ChunkRef[]> {
    try {
      const content = this.#contents++
      for (let start = 0; start < sizeBytes || start === 0; start += BATCH_BYTES) {
        const end = Math.min(sizeBytes, start + BATCH_BYTES)
        await before(end - start)
        await this.#forRoom()
        this.#addFile({ content, cutting: 'file', fd, start, end, isLast: end === sizeBytes })
      }
      return await this.#endOf(content)
    } catch (error) {
      await this.#stop(error)
      throw error
    }
  }

  /** Stores bytes as one chunk. */
  async chunk(bytes: Uint8Array): Promise<ChunkRef> {
    await this.#forRoom()
    const content = this.#contents++
    this.#post()
    const end = bytes.length
    this.#send([{ content, cutting: 'whole', start: 0, end, isLast: true }], 0, new Uint8Array(bytes))
    return (await this.#endOf(content))[0] as ChunkRef
  }

  /**
   * Makes the writer rewrite these chunks if they occur, because the storage's copies are damaged.
   * @param names 32 bytes each
   */
  forget(names: Uint8Array): void {
    if (this.#isReleased) return
    this.#thread.postMessage({ forget: names } satisfies ToWriter)
  }

  /** Resolves when every pack is stored. */
  async finish(): Promise<void> {
    this.#post()
    this.#thread.postMessage({ finish: true } satisfies ToWriter)
    await this.#finished.promise
    while (this.#packsUnderWay > 0) await this.#nextRoom()
    if (this.#fault) throw this.#fault.error
    await this.#release()
  }

  /** Ends the thread at once. Does nothing after the writer has finished. */
  close(): Promise<void> {
    return this.#stop(new Error('the writing of the backup was ended'))
  }

  async #stop(error: unknown): Promise<void> {
    if (this.#isReleased) return
    this.#fail(error)
    await this.#thread.terminate()
  }

  async #release(): Promise<void> {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#thread.off('message', this.#onMessage).off('error', this.#onError).off('exit', this.#onExit)
    this.#thread.postMessage({ begin: undefined } satisfies ToWriter)
    await restThread(program, this.#thread)
  }

  #add(content: number, cutting: Cutting, bytes: number, isLast: boolean): void {
    const before = this.#parts.at(-1)
    // Consecutive pieces form one part.
    if (before?.content === content) this.#parts.pop()
    const start = before?.content === content ? before.start : this.#filled
    this.#filled += bytes
    this.#parts.push({ content, cutting, start, end: this.#filled, isLast })
    this.#postSoon()
  }

  #addFile(part: ContentPart): void {
    const bytes = part.end - part.start
    this.#fileBytes += bytes
    this.#waitingBytes += bytes
    this.#parts.push(part)
    this.#postSoon()
  }

  /** Sends pieces together that arrive while the thread works. */
  #postSoon(): void {
    if (this.#filled === BATCH_BYTES || this.#fileBytes >= BATCH_BYTES) this.#post()
    else if (this.#sent.length < MOST_SENT && this.#parts.length === 1) setImmediate(() => this.#post())
  }

  #post(): void {
    if (this.#parts.length === 0 || this.#fault) return
    if (this.#filled === 0) this.#send(this.#parts, this.#fileBytes)
    else {
      this.#send(this.#parts, this.#fileBytes, this.#batch)
      this.#batch = this.#idle.pop() ?? newBatch()
    }
    this.#parts = []
    this.#filled = 0
    this.#fileBytes = 0
  }

  #send(parts: readonly ContentPart[], fileBytes: number, bytes?: Uint8Array): void {
    if (bytes) this.#waitingBytes += bytes.length
    this.#sent.push({ fileBytes, bytes })
    this.#thread.postMessage({ ...(bytes && { bytes }), parts } satisfies ToWriter)
  }

  async #endOf(content: number): Promise<readonly ChunkRef[]> {
    const end = Promise.withResolvers<readonly ChunkRef[]>()
    // A caller that has failed no longer waits for the others.
    end.promise.catch(() => {})
    if (this.#fault) throw this.#fault.error
    this.#ends.set(content, end)
    return end.promise
  }

  async #forRoom(): Promise<void> {
    while (!this.#fault && (this.#waitingBytes >= MOST_WAITING_BYTES || this.#packsUnderWay >= MOST_PACKS))
      await this.#nextRoom()
    if (this.#fault) throw this.#fault.error
  }

  #nextRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers<void>()
    return this.#room.promise
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }

  #hear(message: FromWriter): void {
    if ('finished' in message) this.#finished.resolve()
    else if ('pack' in message) this.#takeAway(message.pack)
    else {
      this.#free(this.#sent.shift() as Sent)
      if (this.#sent.length < MOST_SENT) this.#post()
      for (const { content, chunks } of message.contents) {
        this.#ends.get(content)?.resolve(chunks)
        this.#ends.delete(content)
      }
      this.#makeRoom()
    }
  }

  #free({ fileBytes, bytes }: Sent): void {
    this.#waitingBytes -= fileBytes + (bytes?.length ?? 0)
    if (bytes && isShared(bytes)) this.#idle.push(bytes)
  }

  #takeAway(pack: Pack): void {
    this.#packsUnderWay++
    const room = new Uint8Array(pack.bytes.buffer)
    this.#onPack({ ...pack, table: Buffer.from(pack.table) })
      .then(() => this.#thread.postMessage({ room } satisfies ToWriter))
      .catch((error) => this.#fail(error))
      .finally(() => {
        this.#packsUnderWay--
        this.#makeRoom()
      })
  }

  #fail(error: unknown): void {
    this.#fault ??= { error }
    for (const each of this.#ends.values()) each.reject(this.#fault.error)
    this.#ends.clear()
    this.#finished.reject(this.#fault.error)
    this.#makeRoom()
  }
}
