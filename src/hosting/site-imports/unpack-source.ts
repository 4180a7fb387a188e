import { createReadStream, createWriteStream } from 'node:fs'
import { link, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { looksLikeDaf, unpackDaf } from '../archives/unpack-daf.ts'
import { unpackTar, unpackTarGz } from '../archives/unpack-tar.ts'
import { looksLikeWpress, unpackWpress } from '../archives/unpack-wpress.ts'
import { ArchiveRefused, type Unpacked, type UnpackOptions, unpackZip } from '../archives/unpack-zip.ts'

/** The type of a file, judged by its content, because a name proves nothing. */
export type SourceKind = 'zip' | 'tar' | 'tar.gz' | 'wpress' | 'daf' | 'sql' | 'sql.gz'

/** The name for a dump that is not part of an archive. */
export const LONE_DUMP = 'database.sql'

const HEAD_BYTES = 8192

/** @throws ArchiveRefused for a file that no import can read */
export async function kindOfSource(path: string): Promise<SourceKind> {
  const head = await headOf(path)
  if (head.length === 0) throw new ArchiveRefused('the file is empty')
  if (head.toString('latin1', 0, 2) === 'PK') return 'zip'
  if (head[0] === 0x1f && head[1] === 0x8b) return isTar(await headOfGzip(path)) ? 'tar.gz' : 'sql.gz'
  if (isTar(head)) return 'tar'
  if (looksLikeWpress(head)) return 'wpress'
  if (looksLikeDaf(head)) return 'daf'
  if (head.toString('latin1', 0, 3) === 'BZh') throw new ArchiveRefused('compressed with bzip2. Send .tar.gz or .zip')
  if (head.includes(0))
    throw new ArchiveRefused('neither a .zip, a .tar, a .wpress or .daf archive, nor a dump of a database')
  return 'sql'
}

/**
 * Unpacks a file into the folder `into`, which must exist and be empty. Skips links. A plain dump only gets a second
 * name there.
 * @throws ArchiveRefused
 */
export async function unpackSource(path: string, into: string, options: UnpackOptions): Promise<Unpacked> {
  const kind = await kindOfSource(path)
  if (kind === 'zip') return unpackZip(path, into, options)
  if (kind === 'wpress') return unpackWpress(path, into, options)
  if (kind === 'daf') return unpackDaf(path, into, options)
  if (kind === 'tar.gz') return unpackTarGz(path, into, options)
  if (kind === 'tar') return unpackTar(createReadStream(path), into, options)
  const dump = join(into, LONE_DUMP)
  if (kind === 'sql') await link(path, dump)
  else await gunzipTo(path, dump, options.limits.maxBytes, options.signal)
  return { files: 1, sizeBytes: 0 }
}

/** @throws ArchiveRefused when the file is damaged, or is longer than `maxBytes` */
export async function gunzipTo(from: string, to: string, maxBytes: number, signal?: AbortSignal): Promise<void> {
  let bytes = 0
  async function* bounded(source: AsyncIterable<Buffer>) {
    for await (const piece of source) {
      bytes += piece.length
      if (bytes > maxBytes) throw new ArchiveRefused('larger than allowed when unpacked')
      yield piece
    }
  }
  try {
    await pipeline(
      createReadStream(from),
      createGunzip(),
      bounded,
      createWriteStream(to, { flags: 'wx', mode: 0o600 }),
      ...(signal ? [{ signal }] : []),
    )
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException)?.code ?? '')
    throw code.startsWith('Z_') ? new ArchiveRefused('not a valid compressed file', { cause: error }) : error
  }
}

async function headOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function headOfGzip(path: string): Promise<Buffer> {
  const source = createReadStream(path)
  const plain = source.pipe(createGunzip())
  source.on('error', (error) => plain.destroy(error))
  try {
    for await (const piece of plain) return piece as Buffer
    return Buffer.alloc(0)
  } catch (error) {
    throw new ArchiveRefused('not a valid compressed file', { cause: error })
  } finally {
    source.destroy()
    plain.destroy()
  }
}

const isTar = (head: Buffer): boolean => head.toString('latin1', 257, 262) === 'ustar'
