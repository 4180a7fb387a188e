import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The limits for the unpacked content of an archive. */
export interface ArchiveLimits {
  readonly maxEntries: number
  /** The bytes of all files together, unpacked. */
  readonly maxBytes: number
}

export interface UnpackOptions {
  readonly limits: ArchiveLimits
  /** Drops this many leading folders of each name. Entries above them are skipped. */
  readonly stripFolders?: number
  /** Called for each link, which is then skipped. Without it, an archive with a link is refused. */
  readonly onLink?: (name: string) => void
  readonly signal?: AbortSignal
  /** Called after each file with the unpacked bytes so far. */
  readonly onProgress?: (unpackedBytes: number) => void
}

/** The result of unpacking. */
export interface Unpacked {
  readonly files: number
  readonly sizeBytes: number
}

/**
 * The archive is damaged, contains an entry that is not unpacked, or exceeds a limit. The message may be shown to
 * users.
 */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused'
}

/**
 * The folder that an archive is unpacked into. Only this code decides which names, types, and sizes are accepted. The
 * folder must be new and inaccessible to others, because only these checks keep the archive inside it. Links are never
 * created, and an existing file is never overwritten, so no entry can misdirect another one.
 */
export interface UnpackedTree {
  /**
   * Returns the path for an entry's name, or undefined when the name is above `stripFolders`. Counts the entry.
   * @throws ArchiveRefused
   */
  place(name: string): string | undefined
  folder(path: string): Promise<void>
  /**
   * Writes one file with mode 0644.
   * @throws ArchiveRefused when it already exists, or exceeds the limit
   */
  file(path: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /**
   * Skips a link.
   * @throws ArchiveRefused without `onLink`
   */
  link(name: string): void
  result(): Unpacked
}

export function unpackedTree(root: string, options: UnpackOptions): UnpackedTree {
  const { limits, stripFolders = 0, onLink, signal, onProgress } = options
  const known = new Set([root])
  let entries = 0
  let files = 0
  let sizeBytes = 0

  const folder = async (path: string) => {
    if (known.has(path)) return
    await mkdir(path, { recursive: true, mode: 0o755 }).catch((cause) => refuseClash(cause, path))
    known.add(path)
  }

  return {
    place(name) {
      signal?.throwIfAborted()
      entries += 1
      if (entries > limits.maxEntries) throw new ArchiveRefused(`more than the ${limits.maxEntries} entries allowed`)
      const parts = safeParts(name).slice(stripFolders)
      return parts.length > 0 ? join(root, ...parts) : undefined
    },
    folder,
    async file(path, content) {
      await folder(dirname(path))
      const file = await open(path, 'wx', 0o644).catch((cause) => refuseClash(cause, path))
      try {
        sizeBytes += await writeAll(file, content, limits.maxBytes - sizeBytes, signal)
      } finally {
        await file.close()
      }
      files += 1
      onProgress?.(sizeBytes)
    },
    link(name) {
      if (!onLink) throw new ArchiveRefused(`${JSON.stringify(name)}: neither a file nor a folder`)
      onLink(name)
    },
    result: () => ({ files, sizeBytes }),
  }
}

async function writeAll(file: FileHandle, content: AsyncIterable<Uint8Array>, maxBytes: number, signal?: AbortSignal) {
  let written = 0
  for await (const chunk of content) {
    signal?.throwIfAborted()
    written += chunk.length
    if (written > maxBytes) throw new ArchiveRefused('larger than allowed when unpacked')
    await file.writeFile(chunk)
  }
  return written
}

function safeParts(name: string): string[] {
  const shown = JSON.stringify(name.slice(0, 100))
  // Backslashes separate folders on the machines that created such archives, and control characters hide names in
  // listings.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\\\u0000-\u001f\u007f]/.test(name)) throw new ArchiveRefused(`${shown}: a name with characters not allowed`)
  if (name.startsWith('/') || /^[a-z]:/i.test(name)) throw new ArchiveRefused(`${shown}: an absolute path`)
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) throw new ArchiveRefused(`${shown}: a path that leaves its folder`)
  if (parts.length > 64 || parts.some((part) => Buffer.byteLength(part) > 255))
    throw new ArchiveRefused(`${shown}: a path that is too long`)
  return parts
}

function refuseClash(cause: NodeJS.ErrnoException, path: string): never {
  if (cause.code === 'EEXIST' || cause.code === 'ENOTDIR' || cause.code === 'EISDIR')
    throw new ArchiveRefused(`${path.split('/').at(-1)}: a name that is there twice`, { cause })
  throw cause
}
