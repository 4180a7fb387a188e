/**
 * The thread that cuts, names, compresses, seals and packs, away from the event loop that serves requests. 1 GB takes
 * seconds.
 */
import { readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { comeAfterVisitors } from '../../platform/come-after-visitors.ts'
import { idText, sealChunk } from '../format/chunk.ts'
import { Cutter, fileSizes, streamSizes } from '../format/cutter.ts'
import type { RepositoryKeys } from '../format/keys.ts'
import { contentName } from '../format/keys.ts'
import { newRoom, PackBuilder } from '../format/pack.ts'
import type { ChunkRef, ContentPart, FromWriter, ToWriter, WriterData } from './writer-messages.ts'

comeAfterVisitors()

const none: Uint8Array = new Uint8Array()
const send = (message: FromWriter) => parentPort?.postMessage(message)

function* idsOf(names: Uint8Array): Generator<string> {
  for (let at = 0; at < names.length; at += 32) yield idText(names.subarray(at, at + 32))
}

interface Open {
  readonly cutter: Cutter
  readonly chunks: ChunkRef[]
}

/** The buffer for reads from files, valid until the next read. */
let piece = Buffer.alloc(0)

/** Reads bytes, fewer than requested if the file has become shorter. */
function readFrom(fd: number, start: number, end: number): Buffer {
  const length = end - start
  if (piece.length < length) piece = Buffer.allocUnsafeSlow(length)
  let read = 0
  while (read < length) {
    const bytes = readSync(fd, piece, read, length - read, start + read)
    if (bytes === 0) break
    read += bytes
  }
  return piece.subarray(0, read)
}

/** The chunks and packs of one backup. */
class Writing {
  readonly #keys: RepositoryKeys
  readonly #known: Set<string>
  /** The memory of stored packs. */
  readonly #rooms: Uint8Array[] = []
  readonly #packs: PackBuilder
  /** Contents that are not complete yet. */
  readonly #open = new Map<number, Open>()

  constructor({ keys, known }: WriterData) {
    this.#keys = keys
    this.#known = new Set(idsOf(known))
    this.#packs = new PackBuilder(keys, () => this.#rooms.pop() ?? newRoom())
  }

  hear(message: ToWriter): void {
    if ('room' in message) this.#rooms.push(message.room)
    else if ('forget' in message) for (const id of idsOf(message.forget)) this.#known.delete(id)
    else if ('finish' in message) this.#finish()
    else if ('parts' in message) this.#takeAll(message.parts, message.bytes)
  }

  #takeAll(parts: readonly ContentPart[], bytes = none): void {
    const contents: { content: number; chunks: readonly ChunkRef[] }[] = []
    for (const part of parts) {
      const { fd, start, end } = part
      const chunks = this.#take(part, fd === undefined ? bytes.subarray(start, end) : readFrom(fd, start, end))
      if (chunks) contents.push({ content: part.content, chunks })
    }
    send({ contents })
  }

  /** @returns the chunks of the content, if this was its last part */
  #take({ content, cutting, isLast }: ContentPart, bytes: Uint8Array): readonly ChunkRef[] | undefined {
    const begun = this.#open.get(content)
    if (cutting === 'whole') return [this.#keep(bytes)]
    // Most files need no cut and no copy.
    if (!begun && isLast && cutting === 'file' && bytes.length <= fileSizes.least)
      return bytes.length > 0 ? [this.#keep(bytes)] : []
    const { cutter, chunks } = begun ?? this.#begin(cutting)
    cutter.push(bytes)
    if (!isLast) {
      if (!begun) this.#open.set(content, { cutter, chunks })
      return undefined
    }
    cutter.end()
    this.#open.delete(content)
    return chunks
  }

  #begin(cutting: 'file' | 'stream'): Open {
    const chunks: ChunkRef[] = []
    const sizes = cutting === 'file' ? fileSizes : streamSizes
    return { chunks, cutter: new Cutter(this.#keys, sizes, (chunk) => chunks.push(this.#keep(chunk))) }
  }

  #keep(content: Uint8Array): ChunkRef {
    const name = contentName(this.#keys, content)
    const id = idText(name)
    if (!this.#known.has(id)) {
      this.#known.add(id)
      this.#packs.add(name, sealChunk(this.#keys, name, content), content.length)
      if (this.#packs.isFull) this.#sendPack()
    }
    return { id, sizeBytes: content.length }
  }

  #sendPack(): void {
    send({ pack: this.#packs.close() })
  }

  #finish(): void {
    if (!this.#packs.isEmpty) this.#sendPack()
    send({ finished: true })
  }
}

let writing: Writing | undefined

parentPort?.on('message', (message: ToWriter) => {
  if ('begin' in message) writing = message.begin && new Writing(message.begin)
  else writing?.hear(message)
})
