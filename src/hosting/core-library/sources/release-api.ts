import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { type FetchOptions, fetchBuffer, fetchJson, fetchToFile } from '../../../platform/fetch/fetch-public.ts'
import { unpackZip } from '../../archives/unpack-zip.ts'
import {
  type CoreSource,
  coreLimits,
  type FoundCore,
  maxArchiveBytes,
  type SourceOffer,
  type SourceTask,
} from '../core-source.ts'
import { compareVersions, isStable, isVersion } from '../wordpress-version.ts'

const publicApi = 'https://api.wordpress.org'

interface Offer extends SourceOffer {
  readonly download: string
}

/**
 * Returns the release API of WordPress, or its replacement at `base`. A download is checked twice: the archive against
 * its published checksum, and every file against the API's own list.
 */
export function releaseApiSource(options: { base: string | undefined; allowPrivate: boolean }): CoreSource {
  const base = options.base ?? publicApi
  // The operator configured a replacement for tests, which is mostly on this machine.
  const allowPrivate = options.allowPrivate || options.base !== undefined
  const fetching = (task: SourceTask, maxBytes: number, timeoutMs = 20_000): FetchOptions => ({
    allowPrivate,
    maxBytes,
    timeoutMs,
    ...(task.signal && { signal: task.signal }),
  })

  const offers = async (task: SourceTask, channel?: 'beta'): Promise<Offer[]> => {
    const address = `${base}/core/version-check/1.7/${channel ? `?channel=${channel}` : ''}`
    return offersIn(await fetchJson(address, fetching(task, 4 * 2 ** 20)))
  }

  const choose = async (version: string, task: SourceTask): Promise<Offer> => {
    const stable = (await offers(task)).filter((offer) => isStable(offer.version))
    const newest = stable.sort((a, b) => compareVersions(b.version, a.version))[0]
    if (!newest) throw new Error('it offers no release')
    if (version === 'latest') return newest
    const more = isStable(version) ? stable : await offers(task, 'beta')
    // Older releases are not offered, but keep their address. A wrong guess results in a 404.
    const guess = { version, download: newest.download.replaceAll(newest.version, version) }
    return more.find((offer) => offer.version === version) ?? guess
  }

  const unpack = async (offer: Offer, into: string, task: SourceTask): Promise<void> => {
    const archive = join(task.workDir, 'release.zip')
    const published = await publishedChecksum(offer.download, fetching(task, 1024))
    await fetchToFile(offer.download, archive, {
      ...fetching(task, maxArchiveBytes, 15 * 60_000),
      onProgress: ({ receivedBytes, totalBytes }) => task.report('downloading', receivedBytes, totalBytes),
    })
    task.report('verifying')
    const actual = createHash(published.algorithm)
      .update(await readFile(archive))
      .digest('hex')
    if (actual !== published.digest)
      throw new Error(
        `the checksum of the download is wrong (${published.algorithm} ${actual}, not ${published.digest})`,
      )
    const unpacked = join(task.workDir, 'release')
    await mkdir(unpacked)
    await unpackZip(archive, unpacked, {
      limits: coreLimits,
      stripFolders: 1,
      ...(task.signal && { signal: task.signal }),
      onProgress: (unpackedBytes) => task.report('unpacking', unpackedBytes),
    })
    await rm(archive)
    task.report('verifying')
    const address = `${base}/core/checksums/1.0/?version=${offer.version}&locale=en_US`
    await checkFiles(unpacked, await fetchJson(address, fetching(task, 4 * 2 ** 20)), offer.version)
    await rename(unpacked, into)
  }

  return {
    name: `the release API at ${base}`,
    identity: async () => base,
    async find(version, task): Promise<FoundCore> {
      task.report('resolving')
      const offer = await choose(version, task)
      return { version: offer.version, unpack: (into) => unpack(offer, into, task) }
    },
    async versions(task) {
      return [...(await offers(task)), ...(await offers(task, 'beta'))]
    },
  }
}

function offersIn(answer: unknown): Offer[] {
  const { offers } = (answer ?? {}) as { offers?: unknown }
  if (!Array.isArray(offers)) throw new Error('its response is invalid')
  return offers.flatMap((offer) => {
    const { version, packages, php_version } = (offer ?? {}) as {
      version?: unknown
      packages?: { full?: unknown }
      php_version?: unknown
    }
    const needs = typeof php_version === 'string' && isPhpVersion(php_version) ? { phpVersion: php_version } : {}
    // `full` instead of `no_content`, because the default theme is needed.
    const download = packages?.full
    return typeof version === 'string' && isVersion(version) && typeof download === 'string'
      ? [{ version, download, ...needs }]
      : []
  })
}

const isPhpVersion = (text: string) => /^\d{1,3}\.\d{1,3}(?:\.\d{1,3})?$/.test(text)

async function publishedChecksum(download: string, options: FetchOptions) {
  let reason: unknown
  for (const [algorithm, length] of [
    ['sha1', 40],
    ['md5', 32],
  ] as const) {
    try {
      const digest = String(await fetchBuffer(`${download}.${algorithm}`, options))
        .trim()
        .slice(0, length)
      if (/^[0-9a-f]+$/.test(digest) && digest.length === length) return { algorithm, digest }
    } catch (error) {
      options.signal?.throwIfAborted()
      reason = error
    }
  }
  throw new Error(`no checksum of the download is published${reason instanceof Error ? ` (${reason.message})` : ''}`, {
    cause: reason,
  })
}

async function checkFiles(folder: string, answer: unknown, version: string): Promise<void> {
  const { checksums } = (answer ?? {}) as { checksums?: unknown }
  if (typeof checksums !== 'object' || checksums === null) {
    // Some test versions have no list. The archive's own checksum was right.
    if (!isStable(version)) return
    throw new Error(`no checksums of the files of ${version} are published`)
  }
  for (const [name, expected] of Object.entries(checksums)) {
    const path = join(folder, name)
    if (!path.startsWith(folder + sep)) throw new Error('its response is invalid')
    const content = await readFile(path).catch((cause) => {
      throw new Error(`${name} is missing in the download`, { cause })
    })
    const actual = createHash('md5').update(content).digest('hex')
    if (actual !== expected) throw new Error(`${name} differs from the published file`)
  }
}
