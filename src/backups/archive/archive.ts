import { type ArchiveLengths, PIECE } from './archive-lengths.ts'
import type { Bzip2Block } from './bzip2-block.ts'
import { Bzip2Stream } from './bzip2-stream.ts'
import type { Bzip2Threads } from './bzip2-threads.ts'
import { type TreeSource, tarBytes } from './tar.ts'

export interface ArchiveOptions {
  /** The lengths of this very archive. They are used to begin in its middle, and updated with new findings. */
  readonly lengths: ArchiveLengths
  readonly threads: Bzip2Threads
  /** Ends the work at the next piece, with the signal's reason. */
  readonly signal: AbortSignal
}

/**
 * Increases when the same trees give other bytes, because a client must not continue a partial archive with a different
 * one.
 */
export const ARCHIVE_FORMAT = 1

/**
 * Yields trees as a `.tar.bz2`, from a byte on. It is built while it is read, with the same bytes each time. It uses
 * the memory of a few pieces, whatever the content.
 * @param start at most the archive's length; bytes between the last known block before it and itself are built and
 * dropped
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

/** Finds out where blocks begin, up to a byte or to the end, and drops the output. */
export async function measureArchive(
  sources: readonly TreeSource[],
  upTo: number,
  options: ArchiveOptions,
): Promise<void> {
  const { lengths } = options
  for await (const _ of archiveBytes(sources, lengths.knownBytes, options)) if (lengths.knownBytes > upTo) return
}

/** Yields pieces of equal length, except the last. */
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

/** Yields blocks in the order of their pieces. One more block than there are threads is in progress. */
async function* inOrder(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  threads: Bzip2Threads,
  signal: AbortSignal,
): AsyncGenerator<Bzip2Block> {
  const ahead: Promise<Bzip2Block>[] = []
  for await (const piece of pieces) {
    const block = threads.compress(piece, signal)
    // Its error is handled in its turn, or not at all if an earlier block has failed.
    block.catch(() => {})
    ahead.push(block)
    if (ahead.length > threads.count) yield await ahead.shift()!
  }
  for (const block of ahead) yield await block
}
