import { Parser, type ReadEntry } from 'tar'
import { ArchiveRefused } from './unpacked-tree.ts'

const maxHeaderBytes = 64 * 1024
const maxPaddingBytes = 1024 * 1024

/**
 * Reads a tar stream (POSIX ustar and pax, GNU long names), entry by entry. Reads the next one when `take` is done with
 * the previous one and its content. Uses the parser of the package `tar`, which knows the formats. Adds limits for
 * everything that the parser would buffer or skip, because the parser expects trusted archives. Whatever the parser
 * would skip is a reason to refuse the archive.
 * @param take handles an entry; content it does not read is skipped
 * @throws ArchiveRefused when the archive is damaged, cut off, or contains data that the parser does not know
 */
export async function readTar(source: AsyncIterable<Buffer>, take: (entry: ReadEntry) => Promise<void>): Promise<void> {
  const parser = new Parser({ strict: true, maxMetaEntrySize: maxHeaderBytes, brotli: false, zstd: false })
  const broken = Promise.withResolvers<never>()
  broken.promise.catch(() => {})
  const state = { isBroken: false, isAtEnd: false }
  const refuse = (error: unknown) => {
    state.isBroken = true
    broken.reject(error)
  }
  let current: ReadEntry | undefined
  let last = Promise.resolve()
  parser.on('entry', (entry: ReadEntry) => {
    current = entry
    // One after the other: an entry may be fully read, and the next one begin, before its file is closed.
    last = last.then(() => (state.isBroken ? undefined : take(entry))).then(() => void entry.resume(), refuse)
  })
  // Sparse files, headers that are too long, and unknown types.
  parser.on('ignoredEntry', ({ path }: ReadEntry) =>
    refuse(new ArchiveRefused(`${JSON.stringify(path)}: neither a file nor a folder`)),
  )
  parser.on('error', (error) => refuse(new ArchiveRefused('not a valid tar archive', { cause: error })))
  parser.on('eof', () => {
    state.isAtEnd = true
  })
  const write = async (chunk: Buffer) => {
    if (!parser.write(chunk) && !state.isBroken) await Promise.race([drained(parser), broken.promise])
    if (state.isBroken) await broken.promise
  }
  try {
    let isFirst = true
    let paddingBytes = 0
    for await (const chunk of source) {
      if (chunk.length === 0) continue
      // The parser would also decompress it, without a limit.
      if (isFirst && chunk[0] === 0x1f) throw new ArchiveRefused('not a valid tar archive')
      isFirst = false
      if (!state.isAtEnd) {
        await write(chunk)
        continue
      }
      // Reading to the end makes gzip compare its checksum. The parser would keep all of it in memory.
      paddingBytes += chunk.length
      if (paddingBytes > maxPaddingBytes) throw new ArchiveRefused('data after the end of the archive')
    }
    parser.end()
    await Promise.race([state.isBroken || last, broken.promise])
    if (state.isBroken) await broken.promise
    if (!state.isAtEnd) throw new ArchiveRefused('the archive is cut off')
  } finally {
    // A consumer that still reads an entry of a refused archive must reach its end.
    if (current && !current.emittedEnd) current.end()
    await last
  }
}

const drained = (parser: Parser) => new Promise<void>((resolve) => parser.once('drain', () => resolve()))
