import { Parser, type ReadEntry } from 'tar'
import { ArchiveRefused } from './unpacked-tree.ts'

const maxHeaderBytes = 64 * 1024
const maxPaddingBytes = 1024 * 1024

/**
 * Reads a tar stream (POSIX ustar and pax, GNU long names), entry by entry; the next one is read when `take` is done with one and its
 * content. The parser is that of `tar`: it knows the formats. What this adds is a bound to all that it would hold or pass over, since
 * it is made for archives that somebody wants: whatever it would leave out is a reason to refuse the archive.
 * @param take what it leaves of an entry's content is skipped
 * @throws ArchiveRefused when it is damaged, cut off, or holds something that the parser does not know
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
    // one after the other: an entry may be read to its end, and the next one begin, before its file is closed
    last = last.then(() => (state.isBroken ? undefined : take(entry))).then(() => void entry.resume(), refuse)
  })
  // sparse files, headers that are too long, and types that nobody knows
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
      // the parser would undo another compression, without a bound
      if (isFirst && chunk[0] === 0x1f) throw new ArchiveRefused('not a valid tar archive')
      isFirst = false
      if (!state.isAtEnd) {
        await write(chunk)
        continue
      }
      // reading on to the end is what makes gzip compare its checksum; the parser would keep all of it
      paddingBytes += chunk.length
      if (paddingBytes > maxPaddingBytes) throw new ArchiveRefused('data after the end of the archive')
    }
    parser.end()
    await Promise.race([state.isBroken || last, broken.promise])
    if (state.isBroken) await broken.promise
    if (!state.isAtEnd) throw new ArchiveRefused('the archive is cut off')
  } finally {
    // who still reads an entry of an archive that is refused must come to its end
    if (current && !current.emittedEnd) current.end()
    await last
  }
}

const drained = (parser: Parser) => new Promise<void>((resolve) => parser.once('drain', () => resolve()))
