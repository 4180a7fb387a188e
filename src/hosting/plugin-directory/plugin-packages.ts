import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FetchError, FetchFailed, FetchTimedOut, fetchToFile } from '../../platform/fetch/fetch-public.ts'
import { ArchiveRefused, unpackZip } from '../archives/unpack-zip.ts'

/** The limits of a plugin's archive, and of its contents. */
const MOST_ARCHIVE_BYTES = 200 << 20
const LIMITS = { maxEntries: 50_000, maxBytes: 1 << 30 }
const FETCH_MS = 10 * 60_000

export interface PackageOrder {
  /** The address of a ZIP file. */
  readonly url: string
  /** The name of its folder if the archive has none: `[a-z0-9._-]+`. */
  readonly otherwise: string
  readonly signal: AbortSignal
  /** Called with the bytes of the archive. */
  readonly onProgress?: (doneBytes: number, totalBytes: number | null) => void
}

/** An unpacked package. */
export interface UnpackedPackage {
  /** A folder that contains only the plugin's folder. */
  readonly path: string
  /** The name of that folder. */
  readonly folder: string
}

/** Provides hosts with packages of plugins. */
export interface PluginPackages {
  /**
   * Downloads and unpacks one into a separate place, which exists until `use` ends.
   * @param key identifies the caller; a repeated key replaces what a crash has left behind
   * @throws FetchError, ArchiveRefused, whose texts may be shown to users; errors of `use`
   */
  withPackage<Result>(
    key: string,
    order: PackageOrder,
    use: (found: UnpackedPackage) => Promise<Result>,
  ): Promise<Result>
}

/** @param options.base the address that replaces the public plugin directory, whose packages may be equally private */
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

/** Retries once. A server that does not respond may do so the next time. One that refuses will refuse again. */
async function twice(fetch: () => Promise<unknown>): Promise<void> {
  await fetch().catch((error) => {
    const isPassing = error instanceof FetchTimedOut || (error instanceof FetchFailed && (error.status ?? 500) >= 500)
    if (!(error instanceof FetchError) || !isPassing) throw error
    return fetch()
  })
}

/** Does as WordPress does: the only folder of an archive is the plugin. If files are at the top, everything is. */
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
