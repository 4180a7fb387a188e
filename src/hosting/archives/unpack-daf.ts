import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { ArchiveRefused, type Unpacked, type UnpackedTree, type UnpackOptions, unpackedTree } from './unpacked-tree.ts'

/** Longer than the parts of any header before its path. */
const HEADER_BYTES = 2048
const MOST_PATH_BYTES = 4100
/** Duplicator writes pieces of 1 MiB. */
const MOST_PIECE_BYTES = 16 << 20
const COMPRESSED = 1
const ENCRYPTED = 2
/** The table of contents. It is not part of the site, and is stored uncompressed in compressed archives, too. */
const INDEX = '__dup__archive__index.json'

// Headers as latin1, so that each character is one byte. `X` contains two bytes of flags, since version 5.
const ARCHIVE =
  /^<A><V>(\d{1,4})(?:\.\d{1,4}){1,3}<\/V>(?:<C>(true|false)<\/C>|<X>(.{2})<\/X><P>(.{0,1024}?)<\/P>)<\/A>/s
const FOLDER = String.raw`<D><MT>-?\d{0,14}</MT><P>[0-7]{0,6}</P><RPL>(\d{1,5})</RPL><RP>`
const FILE = String.raw`<F><FS>(\d{1,14})</FS><MT>-?\d{0,14}</MT><P>[0-7]{0,6}</P>(?:<X>(.{2})</X>)?<HA>[0-9a-f]{0,32}</HA><RPL>(\d{1,5})</RPL><RP>`
const ENTRY = new RegExp(`^(?:${FOLDER}|${FILE})`, 's')
const PIECE = /^<G><OS>(\d{1,8})<\/OS><SS>(\d{1,8})<\/SS><HA>([0-9a-f]{8})<\/HA><\/G>/

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflateRaw)

interface DafReader {
  readonly file: FileHandle
  readonly sizeBytes: number
  /** The place of the next byte. */
  at: number
  /** Since version 5, a piece's checksum is that of its content. Before, it is that of the stored bytes. */
  sumsContent: boolean
  flags: number
}

/**
 * Unpacks an archive of Duplicator's own format (DupArchive): a header, then folders, and files with their pieces. The
 * folder `into` must exist, be empty, and be used by no other process. After an error, it contains part of the files:
 * remove it. Checks the checksum of each piece, not of the whole file: a log that grew while Duplicator read it has
 * another one.
 * @throws ArchiveRefused
 */
export async function unpackDaf(archive: string, into: string, options: UnpackOptions): Promise<Unpacked> {
  const tree = unpackedTree(into, options)
  const file = await open(archive, 'r')
  try {
    const reader: DafReader = { file, sizeBytes: (await file.stat()).size, at: 0, sumsContent: false, flags: 0 }
    await readArchiveHeader(reader)
    while (reader.at < reader.sizeBytes) await unpackEntry(reader, tree)
    return tree.result()
  } finally {
    await file.close()
  }
}

/** Returns whether these bytes can be the beginning of such an archive. */
export const looksLikeDaf = (head: Buffer): boolean => head.toString('latin1', 0, 6) === '<A><V>'

async function readArchiveHeader(reader: DafReader): Promise<void> {
  const [, version, compressed, flags, password] = await header(reader, ARCHIVE)
  reader.sumsContent = Number(version) >= 5
  reader.flags = flags === undefined ? (compressed === 'true' ? COMPRESSED : 0) : flagsOf(flags)
  if (password || reader.flags & ENCRYPTED) refuseEncrypted()
}

async function unpackEntry(reader: DafReader, tree: UnpackedTree): Promise<void> {
  const [, folderPathBytes, size, own, filePathBytes] = await header(reader, ENTRY)
  if (folderPathBytes !== undefined) {
    const path = tree.place(await pathOf(reader, Number(folderPathBytes), '</RP></D>'))
    return path === undefined ? undefined : tree.folder(path)
  }
  const name = await pathOf(reader, Number(filePathBytes), '</RP></F>')
  const flags = own === undefined ? reader.flags : flagsOf(own)
  if (flags & ENCRYPTED) refuseEncrypted()
  const path = tree.place(name)
  if (path === undefined || name === INDEX) for await (const _ of piecesOf(reader, Number(size)));
  else await tree.file(path, contentOf(reader, Number(size), (flags & COMPRESSED) !== 0))
}

interface Piece {
  readonly sizeBytes: number
  readonly stored: Buffer
  readonly sum: number
}

/** Reads the pieces of a file. The last one can make the file longer than it was at first. */
async function* piecesOf(reader: DafReader, fileBytes: number): AsyncGenerator<Piece> {
  for (let done = 0; done < fileBytes; ) {
    const [, original, stored, sum] = (await header(reader, PIECE)) as string[]
    const [sizeBytes, storedBytes] = [Number(original), Number(stored)]
    if (sizeBytes > MOST_PIECE_BYTES || storedBytes > MOST_PIECE_BYTES || sizeBytes === 0) refuseDamaged()
    yield { sizeBytes, stored: await bytesAt(reader, storedBytes), sum: Number.parseInt(sum as string, 16) }
    done += sizeBytes
  }
}

async function* contentOf(reader: DafReader, fileBytes: number, isCompressed: boolean): AsyncGenerator<Buffer> {
  for await (const { sizeBytes, stored, sum } of piecesOf(reader, fileBytes)) {
    const content = isCompressed ? await unpacked(stored, sizeBytes) : stored
    if (content.length !== sizeBytes) refuseDamaged()
    if (crc32(reader.sumsContent ? content : stored) !== sum) throw new ArchiveRefused('a checksum is wrong')
    yield content
  }
}

async function unpacked(packed: Buffer, sizeBytes: number): Promise<Buffer> {
  return inflate(packed, { maxOutputLength: sizeBytes }).catch(() => refuseDamaged())
}

/** Reads a header and moves behind it. */
async function header(reader: DafReader, form: RegExp): Promise<RegExpExecArray> {
  const start = reader.at
  const bytes = await bytesAt(reader, Math.min(HEADER_BYTES, reader.sizeBytes - start))
  const found = form.exec(bytes.toString('latin1'))
  if (!found) refuseDamaged()
  reader.at = start + found[0].length
  return found
}

async function pathOf(reader: DafReader, length: number, end: string): Promise<string> {
  if (length === 0 || length > MOST_PATH_BYTES) refuseDamaged()
  const bytes = await bytesAt(reader, length + end.length)
  if (bytes.toString('latin1', length) !== end) refuseDamaged()
  return bytes.toString('utf8', 0, length)
}

/** Reads bytes and moves behind them. */
async function bytesAt(reader: DafReader, length: number): Promise<Buffer> {
  if (reader.at + length > reader.sizeBytes) throw new ArchiveRefused('the archive is cut off')
  const bytes = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await reader.file.read(bytes, done, length - done, reader.at)
    if (bytesRead === 0) throw new ArchiveRefused('the archive is cut off')
    done += bytesRead
    reader.at += bytesRead
  }
  return bytes
}

const flagsOf = (two: string): number => two.charCodeAt(0) | (two.charCodeAt(1) << 8)

function refuseEncrypted(): never {
  throw new ArchiveRefused('the archive is encrypted. Create it again in Duplicator without encryption')
}

function refuseDamaged(): never {
  throw new ArchiveRefused('not a valid .daf archive')
}
