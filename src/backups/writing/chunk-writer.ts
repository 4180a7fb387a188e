import { extname, join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { restThread, takeThread } from '../../platform/threads/resting-threads.ts'
import type { RepositoryKeys } from '../format/keys.ts'
import type { Pack } from '../format/pack.ts'
import type { ChunkRef, Cutting, FromWriter, Part, ToWriter } from './protocol.ts'

export interface ChunkWriterOptions {
  readonly keys: RepositoryKeys
  /** Names of chunks that are there already, 32 bytes each. */
  readonly known: Uint8Array
  /** Takes a pack away. */
  readonly onPack: (pack: Pack) => Promise<void>
}

/** Content on its way into chunks. */
export interface ContentWriter {
  /** Returns when there is room for more; the piece may be used again then. */
  write(piece: Uint8Array): Promise<void>
  end(): Promise<readonly ChunkRef[]>
}

/** A file that is open, and read from its beginning, wherever its own position is. */
export interface OpenFile {
  readonly fd: number
  readonly sizeBytes: number
}

/** `.ts` where Stead runs from its sources, `.js` where it was built. */
const program = join(import.meta.dirname, `writing-thread${extname(import.meta.filename)}`)

const BATCH_BYTES = 1 << 20
/** What waits for the thread, or is to be read by it. */
const MOST_WAITING_BYTES = 8 << 20
/** With one more to go on with, the thread is not idle while it is heard. */
const MOST_SENT = 2
/** Packs, of 16 MB each, that are on their way to the storage. */
const MOST_PACKS = 2

const newBatch = () => new Uint8Array(new SharedArrayBuffer(BATCH_BYTES))
const isShared = (bytes: Uint8Array): bytes is Uint8Array<SharedArrayBuffer> =>
  bytes.buffer instanceof SharedArrayBuffer

interface Sent {
  readonly fileBytes: number
  readonly bytes: Uint8Array | undefined
}

/** Makes chunks and packs of content, in a thread of its own. A fault of the thread or the storage is one of all that waits. */
export class ChunkWriter {
  readonly #thread: Worker
  readonly #onPack: ChunkWriterOptions['onPack']
  readonly #ends = new Map<number, PromiseWithResolvers<readonly ChunkRef[]>>()
  readonly #finished = Promise.withResolvers<void>()
  #contents = 0
  #batch = newBatch()
  /** Batches that were dealt with. They are shared, and used again: new ones would make the collector look at the whole heap for each few MB. */
  readonly #idle: Uint8Array<SharedArrayBuffer>[] = []
  /** What the thread has, in its order. */
  readonly #sent: Sent[] = []
  #filled = 0
  #parts: Part[] = []
  /** Of the parts that are to be read from files. */
  #fileBytes = 0
  #waitingBytes = 0
  #packsUnderWay = 0
  #room: PromiseWithResolvers<void> | undefined
  #fault: { error: unknown } | undefined
  /** It has written all, and does something else now. */
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

  /** Several may be open at once. */
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
   * A file, which the thread reads: nothing of it crosses to it. Fails only when the thread does not read it any more: so it can be closed.
   * @param before awaited before each piece
   */
  async file({ fd, sizeBytes }: OpenFile, before: (piece: number) => Promise<void>): Promise<readonly ChunkRef[]> {
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

  /** Keeps some bytes as one chunk. */
  async chunk(bytes: Uint8Array): Promise<ChunkRef> {
    await this.#forRoom()
    const content = this.#contents++
    this.#post()
    const end = bytes.length
    this.#send([{ content, cutting: 'whole', start: 0, end, isLast: true }], 0, new Uint8Array(bytes))
    return (await this.#endOf(content))[0] as ChunkRef
  }

  /** Writes these chunks again when they come: what the storage has of them is damaged. @param names 32 bytes each */
  forget(names: Uint8Array): void {
    if (this.#isReleased) return
    this.#thread.postMessage({ forget: names } satisfies ToWriter)
  }

  /** Resolves when every pack was taken away. */
  async finish(): Promise<void> {
    this.#post()
    this.#thread.postMessage({ finish: true } satisfies ToWriter)
    await this.#finished.promise
    while (this.#packsUnderWay > 0) await this.#nextRoom()
    if (this.#fault) throw this.#fault.error
    await this.#release()
  }

  /** Ends the thread, whatever it does; one that has written all was left already. */
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
    // what comes one after the other is one part
    if (before?.content === content) this.#parts.pop()
    const start = before?.content === content ? before.start : this.#filled
    this.#filled += bytes
    this.#parts.push({ content, cutting, start, end: this.#filled, isLast })
    this.#postSoon()
  }

  #addFile(part: Part): void {
    const bytes = part.end - part.start
    this.#fileBytes += bytes
    this.#waitingBytes += bytes
    this.#parts.push(part)
    this.#postSoon()
  }

  /** What comes while the thread is at work goes together. */
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

  #send(parts: readonly Part[], fileBytes: number, bytes?: Uint8Array): void {
    if (bytes) this.#waitingBytes += bytes.length
    this.#sent.push({ fileBytes, bytes })
    this.#thread.postMessage({ ...(bytes && { bytes }), parts } satisfies ToWriter)
  }

  async #endOf(content: number): Promise<readonly ChunkRef[]> {
    const end = Promise.withResolvers<readonly ChunkRef[]>()
    // who gave up waits no more for the others
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
