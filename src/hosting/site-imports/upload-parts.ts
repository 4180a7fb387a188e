import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rm, statfs } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/*
 * Files that a client uploads to the API are stored on the host of its site. The control passes each part on to the
 * host's web server, with the key that edges present, and `x-stead-upload`. A file only grows, by whole parts, each at
 * its end, so its length shows what it holds. So a part that arrives late or twice changes nothing, and after a crash
 * the file holds the parts that were taken.
 */

/**
 * The header that marks a request of the control with a part. No visitor can send it, because edges drop `x-stead-…`.
 */
export const UPLOAD_HEADER = 'x-stead-upload'

/** One part of a file of an import. */
export interface UploadPart {
  readonly importId: number
  /** The number of the file. */
  readonly file: number
  /** The position in the file where it begins. */
  readonly offset: number
  /** The bytes that the file still lacks. A part must not have more. */
  readonly mostBytes: number
  /** In hex, if the client sent it. */
  readonly sha256: string | null
}

/** The outcome for a part. */
export type Taken =
  /** `bytes`: the current length of the file. */
  | { readonly kind: 'taken'; readonly bytes: number }
  /** The file has this many bytes, and the part begins elsewhere. */
  | { readonly kind: 'elsewhere'; readonly bytes: number }
  | { readonly kind: 'damaged' | 'too-long' | 'full' | 'busy' }

export interface PartDoorOptions {
  /** Returns the folder with the files of an import. */
  readonly folderOf: (importId: number) => string
  /** The disk space that stays free. */
  readonly keepFreeBytes: number
}

/** The most parts that are written at the same time. */
const MOST_AT_ONCE = 16

/** Takes parts of uploads on a host. */
export class PartDoor {
  readonly #options: PartDoorOptions
  /** The last pending part by file: parts are written one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>()
  /** Part of the names of drafts. Drafts with another id are from a process that died. */
  readonly #id = randomUUID()
  #drafts = 0
  #atOnce = 0

  constructor(options: PartDoorOptions) {
    this.#options = options
  }

  /** Answers a request of {@link sendPart}. */
  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const part = JSON.parse(String(request.headers[UPLOAD_HEADER])) as UploadPart
    const taken = await this.take(part, request.iterator({ destroyOnReturn: false }))
    // Reads unwanted content too. Otherwise, the answer would be lost with the connection.
    request.resume()
    const body = JSON.stringify(taken)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  }

  /** Appends the bytes to the file, all or none. */
  async take(part: UploadPart, content: AsyncIterable<Uint8Array>): Promise<Taken> {
    if (this.#atOnce >= MOST_AT_ONCE) return { kind: 'busy' }
    this.#atOnce++
    try {
      return await this.#take(part, content)
    } finally {
      this.#atOnce--
    }
  }

  async #take(part: UploadPart, content: AsyncIterable<Uint8Array>): Promise<Taken> {
    const folder = this.#options.folderOf(part.importId)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, String(part.file))
    const bytes = await lengthOf(file)
    if (bytes !== part.offset) return { kind: 'elsewhere', bytes }
    if ((await freeBytes(folder)) - part.mostBytes < this.#options.keepFreeBytes) return { kind: 'full' }
    await this.#dropLeftDrafts(folder)
    const draft = join(folder, `.${this.#id}.${this.#drafts++}`)
    try {
      const received = await writeDraft(draft, content, part.mostBytes)
      if (received === undefined) return { kind: 'too-long' }
      if (part.sha256 !== null && received.sha256 !== part.sha256) return { kind: 'damaged' }
      return await this.#inTurn(file, () => append(draft, file, part.offset))
    } finally {
      await rm(draft, { force: true })
    }
  }

  async #dropLeftDrafts(folder: string): Promise<void> {
    const left = (await readdir(folder)).filter((name) => name.startsWith('.') && !name.startsWith(`.${this.#id}.`))
    for (const name of left) await rm(join(folder, name), { force: true })
  }

  async #inTurn<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#turns.get(file) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(work)
    this.#turns.set(file, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(file) === turn) this.#turns.delete(file)
    }
  }
}

/** @returns undefined when there is more than `mostBytes` */
async function writeDraft(
  draft: string,
  content: AsyncIterable<Uint8Array>,
  mostBytes: number,
): Promise<{ sha256: string } | undefined> {
  const hash = createHash('sha256')
  let bytes = 0
  async function* counted() {
    for await (const piece of content) {
      bytes += piece.length
      if (bytes > mostBytes) return
      hash.update(piece)
      yield piece
    }
  }
  await pipeline(counted, createWriteStream(draft, { flags: 'wx', mode: 0o600 }))
  return bytes > mostBytes ? undefined : { sha256: hash.digest('hex') }
}

/** Appends a draft to a file. Another part may have been first. */
async function append(draft: string, file: string, offset: number): Promise<Taken> {
  const handle = await open(file, 'a', 0o600)
  try {
    const { size } = await handle.stat()
    if (size !== offset) return { kind: 'elsewhere', bytes: size }
    try {
      for await (const piece of createReadStream(draft, { highWaterMark: 1 << 20 })) await handle.appendFile(piece)
      // Reported bytes must survive a power failure.
      await handle.datasync()
    } catch (error) {
      await handle.truncate(offset)
      throw error
    }
    return { kind: 'taken', bytes: (await handle.stat()).size }
  } finally {
    await handle.close()
  }
}

async function lengthOf(file: string): Promise<number> {
  const handle = await open(file, 'r').catch(() => undefined)
  if (!handle) return 0
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
