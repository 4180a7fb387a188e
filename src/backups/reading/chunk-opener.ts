import { extname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { openChunk } from '../format/chunk.ts'
import type { RepositoryKeys } from '../format/keys.ts'

/** A request to the thread to open a chunk. */
export interface ToOpen {
  readonly keys: RepositoryKeys
  readonly id: Uint8Array
  readonly sizeBytes: number
  readonly sealed: Uint8Array
}

/** A request to the thread to check a piece of a pack, with the chunks in it. */
export interface ToCheck {
  readonly keys: RepositoryKeys
  readonly bytes: Uint8Array
  /** Whether the contents are returned. By default, only whether they are what was written. */
  readonly wantsContent?: boolean
  readonly rows: readonly {
    readonly id: Uint8Array
    /** The offset in the piece. */
    readonly offset: number
    readonly sealedBytes: number
    readonly sizeBytes: number
  }[]
}

/**
 * The thread's answer: the content, or undefined if it is not what was written; which chunks are sound; or their
 * contents.
 */
export type Opened =
  | { readonly content: Uint8Array | undefined }
  | { readonly sound: readonly boolean[] }
  | { readonly contents: readonly (Uint8Array | undefined)[] }

/** `.ts` if Stead runs from its sources, `.js` if it was built. */
const program = join(import.meta.dirname, `opening-thread${extname(import.meta.filename)}`)

/**
 * Smaller chunks are opened directly. That takes a fraction of a millisecond, and a request to the thread takes as
 * long.
 */
const LEAST_BYTES = 65_536
const IDLE_MS = 20_000

/** Opens chunks, large ones in a thread, one after another. The thread starts on demand, and ends when idle. */
export class ChunkOpener {
  #thread: Worker | undefined
  /** The waiting requests, in the order in which the thread answers. */
  readonly #waiting: PromiseWithResolvers<Opened>[] = []
  #ending: NodeJS.Timeout | undefined

  /** @returns the content; `undefined` when the chunk is not what was written */
  async open(chunk: ToOpen): Promise<Buffer | undefined> {
    if (chunk.sizeBytes < LEAST_BYTES) return openHere(chunk)
    // This is a copy, because the buffer that it is part of is still being read.
    const sealed = new Uint8Array(chunk.sealed)
    const opened = await this.#ask({ ...chunk, id: new Uint8Array(chunk.id), sealed }, sealed.buffer)
    const content = 'content' in opened ? opened.content : undefined
    return content && Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  }

  /**
   * Checks chunks in a piece.
   * @param piece whose bytes may be gone afterwards
   * @returns for each chunk whether it is what was written
   */
  async check(piece: Omit<ToCheck, 'wantsContent'>): Promise<readonly boolean[]> {
    const opened = await this.#askAll(piece)
    return 'sound' in opened ? opened.sound : []
  }

  /**
   * Does the same, and returns their contents. They share one buffer, which stays in memory as long as any of them is
   * used.
   */
  async openAll(piece: Omit<ToCheck, 'wantsContent'>): Promise<readonly (Uint8Array | undefined)[]> {
    const opened = await this.#askAll({ ...piece, wantsContent: true })
    return 'contents' in opened ? opened.contents : []
  }

  #askAll(piece: ToCheck): Promise<Opened> {
    const { bytes } = piece
    // If the buffer is shared with others, a copy is transferred.
    const own = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
    return this.#ask({ ...piece, bytes: own }, own.buffer as ArrayBuffer)
  }

  #ask(message: ToOpen | ToCheck, moved: ArrayBuffer): Promise<Opened> {
    const answer = Promise.withResolvers<Opened>()
    this.#waiting.push(answer)
    clearTimeout(this.#ending)
    this.#thread ??= this.#start()
    this.#thread.ref()
    this.#thread.postMessage(message, [moved])
    return answer.promise
  }

  #start(): Worker {
    const thread = new Worker(program)
    const ended = (error: Error) => {
      // The thread was ended because it was idle, or has already reported its end.
      if (this.#thread !== thread) return
      this.#thread = undefined
      for (const each of this.#waiting.splice(0)) each.reject(error)
    }
    thread.on('message', (opened: Opened) => {
      this.#waiting.shift()?.resolve(opened)
      if (this.#waiting.length === 0) this.#rest(thread)
    })
    thread.on('error', ended)
    thread.on('exit', () => ended(new Error('the thread that reads backups ended')))
    return thread
  }

  #rest(thread: Worker): void {
    // A process with nothing else to do must not wait for an idle thread.
    thread.unref()
    this.#ending = setTimeout(() => {
      this.#thread = undefined
      void thread.terminate()
    }, IDLE_MS).unref()
  }
}

function openHere({ keys, id, sizeBytes, sealed }: ToOpen): Buffer | undefined {
  try {
    return openChunk(keys, id, sizeBytes, Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength))
  } catch {
    return undefined
  }
}
