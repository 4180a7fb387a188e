import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** What an archive may unfold into. */
export interface ArchiveLimits {
  readonly maxEntries: number
  /** Bytes of all files together, unpacked. */
  readonly maxBytes: number
}

export interface UnpackOptions {
  readonly limits: ArchiveLimits
  /** Drops that many leading folders of each name; entries above them are skipped. */
  readonly stripFolders?: number
  /** Told of each link, which is then passed over. Without it an archive that has one is refused. */
  readonly onLink?: (name: string) => void
  readonly signal?: AbortSignal
  /** Called after each file with the unpacked bytes so far. */
  readonly onProgress?: (unpackedBytes: number) => void
}

/** What was unpacked. */
export interface Unpacked {
  readonly files: number
  readonly sizeBytes: number
}

/** The archive is damaged, holds something that is not unpacked, or is over a limit. The message may be shown to users. */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused'
}

/**
 * The folder that an archive is unpacked into: the one place that decides which names, kinds and sizes are taken. The
 * folder must be new and out of reach of anybody else, because nothing but these checks keeps writing inside it. Links
 * are never made, and a file that is there is never written again, so no entry can lead another one astray.
 */
export interface UnpackedTree {
  /** The path for an entry's name, or undefined when the name lies above `stripFolders`. Counts the entry. @throws ArchiveRefused */
  place(name: string): string | undefined
  folder(path: string): Promise<void>
  /** Writes one file, mode 0644. @throws ArchiveRefused when it is there already, or over the limit */
  file(path: string, content: AsyncIterable<Uint8Array>): Promise<void>
  /** Passes over a link. @throws ArchiveRefused unless whoever unpacks is told of links */
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
  // Backslashes separate folders on the machines that made such archives, control characters hide names in listings.
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
