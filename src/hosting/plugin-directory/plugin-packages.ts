import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FetchError, FetchFailed, FetchTimedOut, fetchToFile } from '../../platform/fetch/fetch-public.ts'
import { ArchiveRefused, unpackZip } from '../archives/unpack-zip.ts'

/** What a plugin's archive, and what is in it, may have. */
const MOST_ARCHIVE_BYTES = 200 << 20
const LIMITS = { maxEntries: 50_000, maxBytes: 1 << 30 }
const FETCH_MS = 10 * 60_000

export interface PackageOrder {
  /** Of a zip. */
  readonly url: string
  /** What its folder is called where the archive has none: `[a-z0-9._-]+`. */
  readonly otherwise: string
  readonly signal: AbortSignal
  /** Bytes of the archive. */
  readonly onProgress?: (doneBytes: number, totalBytes: number | null) => void
}

/** A package that was unpacked. */
export interface UnpackedPackage {
  /** Holds one folder, the plugin's, and nothing else. */
  readonly path: string
  /** Name of that folder. */
  readonly folder: string
}

/** Where hosts get packages of plugins from. */
export interface PluginPackages {
  /**
   * Fetches and unpacks one, into a place that nobody else has; `use` has it as long as it works.
   * @param key of who asks; the same again takes the place of what a crash has left
   * @throws FetchError, ArchiveRefused, whose texts may be shown to users; what `use` throws
   */
  withPackage<Result>(
    key: string,
    order: PackageOrder,
    use: (found: UnpackedPackage) => Promise<Result>,
  ): Promise<Result>
}

/** @param options.base of the plugin directory, where another stands in for the public one: its packages may be as near */
export function createPluginPackages(options: {
  dataDir: string
  base: string | undefined
  allowPrivate: boolean
}): PluginPackages {
  const allowPrivate = (url: string) =>
    options.allowPrivate || (options.base !== undefined && URL.parse(url)?.host === URL.parse(options.base)?.host)
  return {
    async withPackage(key, order, use) {
      const { url, signal, otherwise, onProgress } = order
      const work = join(options.dataDir, 'packages', key)
      await rm(work, { recursive: true, force: true })
      await mkdir(join(work, 'content'), { recursive: true, mode: 0o700 })
      try {
        const archive = join(work, 'package.zip')
        const fetching = {
          ...{ allowPrivate: allowPrivate(url), maxBytes: MOST_ARCHIVE_BYTES, timeoutMs: FETCH_MS, signal },
          ...(onProgress && {
            onProgress: (at: { receivedBytes: number; totalBytes: number | null }) =>
              onProgress(at.receivedBytes, at.totalBytes),
          }),
        }
        await twice(() => fetchToFile(url, archive, fetching))
        const content = join(work, 'content')
        await unpackZip(archive, content, { limits: LIMITS, signal })
        await rm(archive)
        return await use(await inOneFolder(work, content, otherwise))
      } finally {
        await rm(work, { recursive: true, force: true })
      }
    },
  }
}

/** A server that does not answer may do so the next time; one that refuses will again. */
async function twice(fetch: () => Promise<unknown>): Promise<void> {
  await fetch().catch((error) => {
    const isPassing = error instanceof FetchTimedOut || (error instanceof FetchFailed && (error.status ?? 500) >= 500)
    if (!(error instanceof FetchError) || !isPassing) throw error
    return fetch()
  })
}

/** As WordPress has it: the one folder of an archive is the plugin; where files lie at its top, all of it is. */
async function inOneFolder(work: string, content: string, otherwise: string): Promise<UnpackedPackage> {
  await rm(join(content, '__MACOSX'), { recursive: true, force: true })
  const entries = await readdir(content, { withFileTypes: true })
  const [first] = entries
  if (!first) throw new ArchiveRefused('the archive is empty')
  if (entries.length === 1 && first.isDirectory()) return { path: content, folder: first.name }
  const wrapped = join(work, 'wrapped')
  await mkdir(wrapped, { mode: 0o700 })
  await rename(content, join(wrapped, otherwise))
  return { path: wrapped, folder: otherwise }
}
