import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import * as yauzl from 'yauzl'
import { ArchiveRefused, type Unpacked, type UnpackedTree, type UnpackOptions, unpackedTree } from './unpacked-tree.ts'

export { type ArchiveLimits, ArchiveRefused, type Unpacked, type UnpackOptions } from './unpacked-tree.ts'

// The published types are those of yauzl 2. These calls came with version 3.
interface ZipReader {
  eachEntry(): AsyncIterable<yauzl.Entry>
  openReadStreamPromise(entry: yauzl.Entry): Promise<Readable>
  close(): void
}
const openZip = (yauzl as unknown as { openPromise(path: string, options: yauzl.Options): Promise<ZipReader> })
  .openPromise

const fileTypeMask = 0o170000
const folderType = 0o040000
const regularType = 0o100000
const linkType = 0o120000

/**
 * Unpacks a zip into the folder `into`, which must exist, be empty, and be used by no other process. Takes files and
 * folders only, and checks sizes and checksums of the entries. After an error, the folder contains part of the archive:
 * remove it.
 * @throws ArchiveRefused
 */
export async function unpackZip(archive: string, into: string, options: UnpackOptions): Promise<Unpacked> {
  const tree = unpackedTree(into, options)
  try {
    const zip = await openZip(archive, { autoClose: false, validateEntrySizes: true })
    try {
      for await (const entry of zip.eachEntry()) await unpackEntry(zip, entry, tree)
    } finally {
      zip.close()
    }
  } catch (error) {
    throw options.signal?.aborted ? error : refusalFrom(error)
  }
  return tree.result()
}

async function unpackEntry(zip: ZipReader, entry: yauzl.Entry, tree: UnpackedTree): Promise<void> {
  const path = tree.place(entry.fileName)
  // The upper half is the Unix mode, or zero if the archive was created on another system.
  const type = (entry.externalFileAttributes >>> 16) & fileTypeMask
  const isFolder = entry.fileName.endsWith('/')
  if (type === linkType) return tree.link(entry.fileName)
  if (type !== 0 && type !== (isFolder ? folderType : regularType))
    throw new ArchiveRefused(`${JSON.stringify(entry.fileName)}: neither a file nor a folder`)
  if (entry.isEncrypted()) throw new ArchiveRefused(`${JSON.stringify(entry.fileName)}: encrypted`)
  if (path === undefined) return
  if (isFolder) return tree.folder(path)
  const content = await zip.openReadStreamPromise(entry)
  // A damaged entry can fail before it is read, while its file is created. Without a listener, the error would be
  // uncaught.
  content.on('error', () => {})
  await tree.file(path, checked(content, entry))
}

async function* checked(content: AsyncIterable<Buffer>, entry: yauzl.Entry): AsyncGenerator<Buffer> {
  let sum = 0
  for await (const chunk of content) {
    sum = crc32(chunk, sum)
    yield chunk
  }
  if (sum !== entry.crc32) throw new ArchiveRefused(`${JSON.stringify(entry.fileName)}: its checksum is wrong`)
}

// yauzl and zlib throw plain errors for damage. System errors, such as a full disk, have a syscall and pass unchanged.
function refusalFrom(error: unknown): unknown {
  if (error instanceof ArchiveRefused || !(error instanceof Error)) return error
  if ('syscall' in error) return error
  return new ArchiveRefused(`not a valid zip (${error.message})`, { cause: error })
}
