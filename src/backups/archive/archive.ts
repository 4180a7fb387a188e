import { type ArchiveLengths, PIECE } from './archive-lengths.ts'
import type { Bzip2Block } from './bzip2-block.ts'
import { Bzip2Stream } from './bzip2-stream.ts'
import type { Bzip2Threads } from './bzip2-threads.ts'
import { type TreeSource, tarBytes } from './tar.ts'

export interface ArchiveOptions {
  /** Of this very archive: used to begin in its middle, and told what is found out. */
  readonly lengths: ArchiveLengths
  readonly threads: Bzip2Threads
  /** Ends the work at the next piece, with its reason. */
  readonly signal: AbortSignal
}

/** Goes up when the same trees give other bytes: whoever has a part of an archive must not go on with another one. */
export const ARCHIVE_FORMAT = 1

/**
 * Trees as a `.tar.bz2`, from a byte on. It is made while it is read, and the same bytes come each time. Memory: a few pieces, whatever is in it.
 * @param start no larger than the archive; what lies between it and the last known block before it is made and left out
 * @throws BackupMissing, BackupDamaged, StorageFailure
 */
export async function* archiveBytes(
  sources: readonly TreeSource[],
  start: number,
  { lengths, threads, signal }: ArchiveOptions,
): AsyncGenerator<Uint8Array> {
  let { number, place } = lengths.blockAt(start)
  const stream = new Bzip2Stream(place)
  let skip = start - Math.floor(place.bits / 8)
  if (skip < 0) yield stream.head.subarray(start)
  skip = Math.max(0, skip)
  const rest = (bytes: Uint8Array): Uint8Array => {
    const kept = bytes.subarray(skip)
    skip = Math.max(0, skip - bytes.length)
    return kept
  }
  const pieces = piecesOf(tarBytes(sources, number * PIECE), signal)
  for await (const block of inOrder(pieces, threads, signal)) {
    signal.throwIfAborted()
    lengths.add(number++, block)
    yield rest(stream.add(block))
  }
  lengths.end(number)
  yield rest(stream.end())
}

/** Finds out where blocks lie, up to a byte or to the end, without keeping what is made. */
export async function measureArchive(
  sources: readonly TreeSource[],
  upTo: number,
  options: ArchiveOptions,
): Promise<void> {
  const { lengths } = options
  for await (const _ of archiveBytes(sources, lengths.knownBytes, options)) if (lengths.knownBytes > upTo) return
}

/** Equally long pieces, but for the last. */
async function* piecesOf(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let piece = new Uint8Array(PIECE)
  let filled = 0
  for await (const each of bytes) {
    signal.throwIfAborted()
    for (let from = 0; from < each.length; ) {
      const part = each.subarray(from, from + PIECE - filled)
      piece.set(part, filled)
      filled += part.length
      from += part.length
      if (filled < PIECE) continue
      yield piece
      piece = new Uint8Array(PIECE)
      filled = 0
    }
  }
  if (filled > 0) yield piece.slice(0, filled)
}

/** Blocks as their pieces come, one more under way than there are threads. */
async function* inOrder(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  threads: Bzip2Threads,
  signal: AbortSignal,
): AsyncGenerator<Bzip2Block> {
  const ahead: Promise<Bzip2Block>[] = []
  for await (const piece of pieces) {
    const block = threads.compress(piece, signal)
    // it is looked at in its turn, or not at all when an earlier one has failed
    block.catch(() => {})
    ahead.push(block)
    if (ahead.length > threads.count) yield await ahead.shift()!
  }
  for (const block of ahead) yield await block
}
