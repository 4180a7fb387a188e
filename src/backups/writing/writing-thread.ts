/** Cuts, names, compresses, seals and packs, apart from the event loop that serves requests: 1 GB is seconds of work. */
import { readSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { comeAfterVisitors } from '../../platform/come-after-visitors.ts'
import { idText, sealChunk } from '../format/chunk.ts'
import { Cutter, fileSizes, streamSizes } from '../format/cutter.ts'
import { nameOf } from '../format/keys.ts'
import { newRoom, PackBuilder } from '../format/pack.ts'
import type { ChunkRef, FromWriter, Part, ToWriter, WriterData } from './protocol.ts'

comeAfterVisitors()

const { known: knownIds, keys } = workerData as WriterData
const known = new Set<string>()
function* idsOf(names: Uint8Array): Generator<string> {
  for (let at = 0; at < names.length; at += 32) yield idText(names.subarray(at, at + 32))
}
for (const id of idsOf(knownIds)) known.add(id)

/** Of packs that were taken away. */
const rooms: Uint8Array[] = []
const packs = new PackBuilder(keys, () => rooms.pop() ?? newRoom())
const send = (message: FromWriter) => parentPort?.postMessage(message)
const sendPack = () => send({ pack: packs.close() })

function keep(content: Uint8Array): ChunkRef {
  const name = nameOf(keys, content)
  const id = idText(name)
  if (!known.has(id)) {
    known.add(id)
    packs.add(name, sealChunk(keys, name, content), content.length)
    if (packs.isFull) sendPack()
  }
  return { id, sizeBytes: content.length }
}

interface Open {
  readonly cutter: Cutter
  readonly chunks: ChunkRef[]
}
/** Contents of which more is to come. */
const open = new Map<number, Open>()

function begin(cutting: 'file' | 'stream'): Open {
  const chunks: ChunkRef[] = []
  const sizes = cutting === 'file' ? fileSizes : streamSizes
  return { chunks, cutter: new Cutter(keys, sizes, (chunk) => chunks.push(keep(chunk))) }
}

/** What is read of a file, until the next is. */
let piece = Buffer.alloc(0)

/** Less than was asked for when the file has become shorter. */
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

/** @returns the chunks of the content, when this was the last of it */
function take({ content, cutting, isLast }: Part, bytes: Uint8Array): readonly ChunkRef[] | undefined {
  const begun = open.get(content)
  if (cutting === 'whole') return [keep(bytes)]
  // most files: nothing to cut, nothing to copy
  if (!begun && isLast && cutting === 'file' && bytes.length <= fileSizes.least)
    return bytes.length > 0 ? [keep(bytes)] : []
  const { cutter, chunks } = begun ?? begin(cutting)
  cutter.push(bytes)
  if (!isLast) {
    if (!begun) open.set(content, { cutter, chunks })
    return undefined
  }
  cutter.end()
  open.delete(content)
  return chunks
}

const none = new Uint8Array()

parentPort?.on('message', (message: ToWriter) => {
  if ('room' in message) {
    rooms.push(message.room)
    return
  }
  if ('forget' in message) {
    for (const id of idsOf(message.forget)) known.delete(id)
    return
  }
  if ('finish' in message) {
    if (!packs.isEmpty) sendPack()
    send({ finished: true })
    return
  }
  const contents: { content: number; chunks: readonly ChunkRef[] }[] = []
  const { bytes = none } = message
  for (const part of message.parts) {
    const { fd, start, end } = part
    const chunks = take(part, fd === undefined ? bytes.subarray(start, end) : readFrom(fd, start, end))
    if (chunks) contents.push({ content: part.content, chunks })
  }
  send({ contents })
})
