import { setImmediate as othersGoFirst } from 'node:timers/promises'
import { Header } from 'tar/header'
import { Pax } from 'tar/pax'
import { BackupDamaged, type BackupRepository, type StoredEntry } from '../backup-store.ts'

/** A tree to include in an archive. */
export interface TreeSource {
  readonly repository: BackupRepository
  /** The name of the backup. */
  readonly name: string
}

const BLOCK = 512
const END = new Uint8Array(2 * BLOCK)
/**
 * The largest size that fits into the header's own field (POSIX, pax: ustar interchange format). Larger ones are in a
 * record before it.
 */
const LARGEST_SIZE = 8 ** 11 - 1
const LATEST_SECONDS = 8 ** 11 - 1
/** How many headers are created before other work of the process gets a turn. */
const HEADS_AT_ONCE = 200

/**
 * Yields trees as one tar archive (POSIX.1-2017, pax), from a byte on. It has the same bytes each time, and does not
 * read the content before that byte. A path in a later tree replaces that of an earlier one when the archive is
 * unpacked.
 *
 * Everything belongs to user and group 0, without names. Unpacked by root, it belongs to root; unpacked by another
 * user, it belongs to that user. The number of any other user, such as 33, belongs to someone else on another system.
 * @throws BackupMissing, BackupDamaged, StorageFailure
 */
export async function* tarBytes(sources: readonly TreeSource[], start = 0): AsyncGenerator<Uint8Array> {
  let skip = start
  let heads = 0
  for (const { repository, name } of sources)
    for await (const entry of repository.entries(name)) {
      const head = headOf(entry)
      const size = entry.kind === 'file' ? entry.sizeBytes : 0
      const parts = [head.length, size, (BLOCK - (size % BLOCK)) % BLOCK] as const
      if (++heads % HEADS_AT_ONCE === 0) await othersGoFirst()
      for (const [index, length] of parts.entries()) {
        if (skip >= length) {
          skip -= length
          continue
        }
        if (index === 0) yield head.subarray(skip)
        else if (index === 2) yield END.subarray(0, length - skip)
        else if (entry.kind === 'file') yield* contentOf(repository, entry, skip)
        skip = 0
      }
    }
  if (skip < END.length) yield END.subarray(skip)
}

/** Returns the length of the trees' part of an archive, without its end. */
export async function treeBytes(sources: readonly TreeSource[]): Promise<number> {
  let bytes = 0
  let heads = 0
  for (const { repository, name } of sources)
    for await (const entry of repository.entries(name)) {
      const size = entry.kind === 'file' ? entry.sizeBytes : 0
      bytes += headOf(entry).length + Math.ceil(size / BLOCK) * BLOCK
      if (++heads % HEADS_AT_ONCE === 0) await othersGoFirst()
    }
  return bytes
}

/** Yields exactly as many bytes as the header says. Otherwise everything after it would be read at the wrong place. */
async function* contentOf(
  repository: BackupRepository,
  file: Extract<StoredEntry, { kind: 'file' }>,
  start: number,
): AsyncGenerator<Uint8Array> {
  let left = file.sizeBytes - start
  for await (const piece of repository.readFile(file, { start })) {
    left -= piece.length
    if (left < 0) break
    yield piece
  }
  if (left !== 0) throw new BackupDamaged(`${file.path}: its content is not ${file.sizeBytes} bytes long`)
}

const types = { file: 'File', folder: 'Directory', link: 'SymbolicLink' } as const

/** Returns the header, with a record before it for values that do not fit (long and non-ASCII names, large files). */
function headOf(entry: StoredEntry): Uint8Array {
  const path = entry.kind === 'folder' ? `${entry.path}/` : entry.path
  const linkpath = entry.kind === 'link' ? entry.target : ''
  const size = entry.kind === 'file' ? entry.sizeBytes : 0
  const mtime = new Date(1000 * Math.min(Math.max(Math.floor(entry.mtimeMs / 1000), 0), LATEST_SECONDS))
  const common = { uid: 0, gid: 0, mtime }
  const header = new Header({ ...common, path, linkpath, size, mode: modeOf(entry), type: types[entry.kind] })
  const block = Buffer.alloc(BLOCK)
  const isShort = !header.encode(block)
  const long = {
    path: isShort && isAscii(path) ? undefined : path,
    linkpath: isAscii(linkpath) && linkpath.length <= 100 ? undefined : linkpath,
    size: size > LARGEST_SIZE ? size : undefined,
  }
  if (Object.values(long).every((each) => each === undefined)) return block
  return Buffer.concat([recordOf(long), block])
}

function recordOf(long: { path: string | undefined; linkpath: string | undefined; size: number | undefined }): Buffer {
  const body = new Pax(long).encodeBody()
  const size = Buffer.byteLength(body)
  const record = Buffer.alloc(BLOCK + Math.ceil(size / BLOCK) * BLOCK)
  const header = { path: 'PaxHeader', mode: 0o644, uid: 0, gid: 0, size, mtime: new Date(0) }
  new Header({ ...header, type: 'ExtendedHeader' }).encode(record)
  record.write(body, BLOCK)
  return record
}

/**
 * Returns a mode with which the owner can read and change the file, and no one else can change it. Running it never
 * changes the user.
 */
function modeOf(entry: StoredEntry): number {
  if (entry.kind === 'link') return 0o777
  return entry.kind === 'folder' ? (entry.mode & 0o755) | 0o700 : (entry.mode & 0o755) | 0o600
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all that is one byte
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text)
