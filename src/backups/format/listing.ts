import { crc32 } from 'node:zlib'
import type { StoredEntry } from '../backup-store.ts'

/*
 * A listing is lines of JSON: for a tree one line per entry, for a stream one per chunk. It is cut into chunks at line
 * ends that a checksum of the line selects. So an unchanged part of a listing costs nothing, each chunk can be read
 * separately, and a known chunk need not be read twice.
 */

/** A chunk of a stream. */
export interface StreamPart {
  readonly chunk: string
  readonly sizeBytes: number
}

const LEAST_BYTES = 16 << 10
const MOST_BYTES = 1 << 20
/** After the least size, one line in this many ends a chunk. */
const ONE_IN = 256

export function entryLine(entry: StoredEntry): string {
  switch (entry.kind) {
    case 'folder':
      return JSON.stringify(['d', entry.path, entry.mode, entry.mtimeMs])
    case 'link':
      return JSON.stringify(['l', entry.path, entry.mtimeMs, entry.target])
    default:
      return JSON.stringify(['f', entry.path, entry.mode, entry.mtimeMs, entry.sizeBytes, entry.stamp, ...entry.chunks])
  }
}

export const partLine = ({ chunk, sizeBytes }: StreamPart): string => JSON.stringify([sizeBytes, chunk])

export function* entriesOf(listing: Buffer): Generator<StoredEntry> {
  for (const line of linesOf(listing)) {
    const [kind, path, ...rest] = line as [string, string, ...unknown[]]
    if (kind === 'd') {
      const [mode, mtimeMs] = rest as [number, number]
      yield { kind: 'folder', path, mode, mtimeMs }
    } else if (kind === 'l') {
      const [mtimeMs, target] = rest as [number, string]
      yield { kind: 'link', path, mtimeMs, target }
    } else {
      const [mode, mtimeMs, sizeBytes, stamp, ...chunks] = rest as [number, number, number, string, ...string[]]
      yield { kind: 'file', path, mode, mtimeMs, sizeBytes, stamp, chunks }
    }
  }
}

export function* listedParts(listing: Buffer): Generator<StreamPart> {
  for (const line of linesOf(listing)) {
    const [sizeBytes, chunk] = line as [number, string]
    yield { chunk, sizeBytes }
  }
}

function* linesOf(listing: Buffer): Generator<unknown[]> {
  for (let at = 0; at < listing.length; ) {
    const end = listing.indexOf(10, at)
    yield JSON.parse(listing.toString('utf8', at, end))
    at = end + 1
  }
}

/** Collects lines into chunks. */
export class ListingBuilder {
  #lines: Buffer[] = []
  #bytes = 0

  /**
   * Adds a line.
   * @returns a chunk, if this line completes one
   */
  add(line: string): Buffer | undefined {
    const bytes = Buffer.from(`${line}\n`)
    this.#lines.push(bytes)
    this.#bytes += bytes.length
    const isEnd = this.#bytes >= LEAST_BYTES && crc32(bytes) % ONE_IN === 0
    return isEnd || this.#bytes >= MOST_BYTES ? this.end() : undefined
  }

  /** Returns the rest. */
  end(): Buffer | undefined {
    if (this.#lines.length === 0) return undefined
    const chunk = Buffer.concat(this.#lines)
    this.#lines = []
    this.#bytes = 0
    return chunk
  }
}
