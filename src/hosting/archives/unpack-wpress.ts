import { type FileHandle, open } from 'node:fs/promises'
import { ArchiveRefused, type Unpacked, type UnpackOptions, unpackedTree } from './unpacked-tree.ts'

/** The header: name, size, time of the last change, and folder, as texts padded with NUL bytes. */
const HEADER_BYTES = 4377
const FIELDS = { name: [0, 255], size: [255, 269], folder: [281, HEADER_BYTES] } as const
const PIECE_BYTES = 1 << 18

interface WpressEntry {
  readonly name: string
  readonly sizeBytes: number
}

/**
 * Unpacks an archive of All-in-One WP Migration: a header and a file's bytes, repeated until a header without a name.
 * The folder `into` must exist, be empty, and be used by no other process. After an error, it contains part of the
 * files: remove it.
 * @throws ArchiveRefused
 */
export async function unpackWpress(archive: string, into: string, options: UnpackOptions): Promise<Unpacked> {
  const tree = unpackedTree(into, options)
  const file = await open(archive, 'r')
  try {
    const { size: archiveBytes } = await file.stat()
    for (let at = 0; ; ) {
      const header = await readHeader(file, at, archiveBytes)
      at += HEADER_BYTES
      if (!header) {
        if (at !== archiveBytes) throw new ArchiveRefused('data after the end of the archive')
        return tree.result()
      }
      // With a wrong size, other bytes would be read as a header.
      if (header.sizeBytes > archiveBytes - HEADER_BYTES - at) throw new ArchiveRefused('the archive is cut off')
      const path = tree.place(header.name)
      if (path !== undefined) await tree.file(path, contentAt(file, at, header.sizeBytes))
      at += header.sizeBytes
    }
  } finally {
    await file.close()
  }
}

/** Returns whether these bytes can be the first header of such an archive. */
export function looksLikeWpress(head: Uint8Array): boolean {
  if (head.length < HEADER_BYTES) return false
  try {
    return entryOf(head) !== undefined
  } catch {
    return false
  }
}

/** @returns undefined at the end of the archive */
async function readHeader(file: FileHandle, at: number, archiveBytes: number): Promise<WpressEntry | undefined> {
  if (at + HEADER_BYTES > archiveBytes) throw new ArchiveRefused('the archive is cut off')
  const header = Buffer.alloc(HEADER_BYTES)
  await file.read(header, 0, HEADER_BYTES, at)
  return entryOf(header)
}

function entryOf(header: Uint8Array): WpressEntry | undefined {
  const [name, size, folder] = [FIELDS.name, FIELDS.size, FIELDS.folder].map((place) => textOf(header, place))
  if (!name) return undefined
  if (!/^\d{1,14}$/.test(size as string) || /[/\\]/.test(name)) throw new ArchiveRefused('not a valid .wpress archive')
  const path = folder === '' || folder === '.' ? name : `${folder}/${name}`
  return { name: path, sizeBytes: Number(size) }
}

/** Returns the text up to the first NUL byte. */
function textOf(header: Uint8Array, [start, end]: readonly [number, number]): string {
  const field = Buffer.from(header.buffer, header.byteOffset + start, end - start)
  const length = field.indexOf(0)
  return field.toString('utf8', 0, length < 0 ? field.length : length)
}

async function* contentAt(file: FileHandle, start: number, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let done = 0; done < sizeBytes; ) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, sizeBytes - done))
    const { bytesRead } = await file.read(piece, 0, piece.length, start + done)
    if (bytesRead === 0) throw new ArchiveRefused('the archive is cut off')
    done += bytesRead
    yield piece.subarray(0, bytesRead)
  }
}
