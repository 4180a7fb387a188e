import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BaseLogger } from 'pino'
import { coresFolder } from './core-folder.ts'
import type { CoreProgress, CoreSource, SourceOffer } from './core-source.ts'
import { type Core, installCore, inWorkDir, latestAnswer, listCores, readCore, removeLeftovers } from './core-store.ts'
import { exclusively } from './exclusive.ts'
import { configuredSource } from './sources/configured.ts'
import { debianPackageSource } from './sources/debian-package.ts'
import { releaseApiSource } from './sources/release-api.ts'
import { compareVersions, isStable, isVersion } from './wordpress-version.ts'

export type { CoreProgress } from './core-source.ts'
export type { Core } from './core-store.ts'

export interface CoreOffer {
  readonly version: string
  readonly kind: 'stable' | 'beta'
  /** The lowest PHP version that it needs. Null if unknown. */
  readonly phpVersion: string | null
  /** Whether a source offers it now. Others were fetched before, and may have been withdrawn. */
  readonly isOffered: boolean
}

export interface CoreLibraryOptions {
  readonly dataDir: string
  readonly coreSource: string | undefined
  readonly wordpressApi: string | undefined
  readonly allowPrivate: boolean
  readonly log: Pick<BaseLogger, 'info' | 'warn'>
  /** How long the answer to "which is the latest" is valid. Default 12 hours. */
  readonly latestForMs?: number
  /** Replaces the sources of the settings, in tests. */
  readonly sources?: readonly CoreSource[]
}

export interface EnsureOptions {
  readonly onProgress?: (progress: CoreProgress) => void
  readonly signal?: AbortSignal
}

export interface CoreLibrary {
  /**
   * Returns a release. Fetches it first if it is missing, which takes minutes on a slow line. `latest` is the newest
   * release of the first working source. When none works, it is the newest stored release.
   * @throws CoreUnavailable, and the signal's reason
   */
  ensure(version: string, options?: EnsureOptions): Promise<Core>
  /** Returns the stored releases, newest first. */
  list(): Promise<Core[]>
  /** Returns the newest stored release (no test version), without a request to any source. */
  latest(): Promise<Core | undefined>
  /**
   * Returns all available releases, newest first: those of the sources, and the stored ones.
   * @throws CoreUnavailable
   */
  offers(options?: { signal?: AbortSignal }): Promise<CoreOffer[]>
  /** Removes the remains of failed attempts, once no fetch is running. Runs in the background of a start. */
  tidy(signal?: AbortSignal): Promise<void>
}

interface Failure {
  readonly source: string
  readonly reason: string
}

/** No source could deliver. The message lists each with its reason, and tells the operator what to do. */
export class CoreUnavailable extends Error {
  override readonly name = 'CoreUnavailable'
  readonly failures: readonly Failure[]

  constructor(wanted: string, failures: readonly Failure[]) {
    const tried = failures.map(({ source, reason }) => `- ${source}: ${reason}`)
    super(
      [
        `No source provides WordPress ${wanted}:`,
        ...tried,
        'Set STEAD_CORE_SOURCE to a folder, .zip or .tar.gz with a WordPress release, then restart Stead.',
      ].join('\n'),
    )
    this.failures = failures
  }
}

/**
 * Creates the library of WordPress releases on this machine, below `<data>/cores/`. Any number of processes can use it
 * at the same time.
 */
export function createCoreLibrary(options: CoreLibraryOptions): CoreLibrary {
  const folder = coresFolder(options.dataDir)
  const lockFile = join(folder, '.lock')
  const sources = options.sources ?? configuredSources(options)
  const answer = latestAnswer(folder, sources, options.latestForMs ?? 12 * hourMs)
  const list = () => listCores(folder)
  const latest = async () => (await list()).find((core) => isStable(core.version))
  const present = async (version: string) => (version === 'latest' ? answer.read() : readCore(folder, version))

  const fetchNow = async (version: string, ensureOptions: EnsureOptions): Promise<Core> => {
    const { core, failures } = await fetchFromFirst(sources, version, { folder, log: options.log, ...ensureOptions })
    const result = core ?? (version === 'latest' ? await latest() : undefined)
    if (!result) throw new CoreUnavailable(version, failures)
    if (version === 'latest') await answer.write(result.version, core ? undefined : hourMs)
    return result
  }

  return {
    list,
    latest,
    async ensure(version, ensureOptions = {}) {
      if (version !== 'latest' && !isVersion(version)) throw new CoreUnavailable(version, notAVersion)
      const there = await present(version)
      if (there) return there
      await mkdir(folder, { recursive: true, mode: 0o755 })
      return exclusively(lockFile, ensureOptions.signal, async () => {
        // The previous holder of the lock may have fetched it.
        const meanwhile = await present(version)
        if (meanwhile) return meanwhile
        await removeLeftovers(folder)
        return fetchNow(version, ensureOptions)
      })
    },
    async tidy(signal) {
      await mkdir(folder, { recursive: true, mode: 0o755 })
      await exclusively(lockFile, signal, () => removeLeftovers(folder))
    },
    async offers({ signal } = {}) {
      const there = (await list()).map((core) => core.version)
      const { offers, failures } = await offersOfAll(sources, signal)
      const sorted = [...new Set([...there, ...offers.map(({ version }) => version)])].sort((a, b) =>
        compareVersions(b, a),
      )
      if (sorted.length === 0) throw new CoreUnavailable('latest', failures)
      for (const { source, reason } of failures)
        options.log.warn({ source, reason }, 'this source does not list its releases of WordPress')
      return sorted.map((version) => offerOf(version, offers))
    },
  }
}

const hourMs = 3_600_000
const notAVersion = [{ source: 'the version asked for', reason: 'it must be like 6.8, 6.8.7, 6.9-beta1, or latest' }]

function configuredSources(options: CoreLibraryOptions): CoreSource[] {
  const configured = options.coreSource ? [configuredSource(options.coreSource)] : []
  const api = releaseApiSource({ base: options.wordpressApi, allowPrivate: options.allowPrivate })
  return [...configured, api, debianPackageSource()]
}

function reporter(source: CoreSource, onProgress: EnsureOptions['onProgress']) {
  return (phase: CoreProgress['phase'], receivedBytes = 0, totalBytes: number | null = null) =>
    onProgress?.({ source: source.name, phase, receivedBytes, totalBytes })
}

/** Fetches from the first source that works. Logs the reasons of those before it. */
async function fetchFromFirst(
  sources: readonly CoreSource[],
  version: string,
  { folder, log, onProgress, signal }: EnsureOptions & Pick<CoreLibraryOptions, 'log'> & { folder: string },
): Promise<{ core?: Core; failures: Failure[] }> {
  const failures: Failure[] = []
  for (const source of sources) {
    try {
      const core = await inWorkDir(folder, async (workDir) => {
        const found = await source.find(version, { workDir, signal, report: reporter(source, onProgress) })
        return (await readCore(folder, found.version)) ?? (await installCore(folder, workDir, source, found))
      })
      log.info({ version: core.version, source: core.source, sha256: core.sha256 }, 'WordPress is there')
      return { core, failures }
    } catch (error) {
      signal?.throwIfAborted()
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ source: source.name, reason }, `this source does not have WordPress ${version}`)
      failures.push({ source: source.name, reason })
    }
  }
  return { failures }
}

function offerOf(version: string, offers: readonly SourceOffer[]): CoreOffer {
  const same = offers.filter((offer) => offer.version === version)
  return {
    version,
    kind: isStable(version) ? 'stable' : 'beta',
    phpVersion: same.find(({ phpVersion }) => phpVersion !== undefined)?.phpVersion ?? null,
    isOffered: same.length > 0,
  }
}

async function offersOfAll(sources: readonly CoreSource[], signal: AbortSignal | undefined) {
  const offers: SourceOffer[] = []
  const failures: Failure[] = []
  for (const source of sources) {
    // Not below the library's own folder, where files without the lock count as leftovers.
    const workDir = await mkdtemp(join(tmpdir(), 'stead-offers-'))
    try {
      offers.push(...(await source.versions({ workDir, signal, report: () => {} })))
    } catch (error) {
      signal?.throwIfAborted()
      failures.push({ source: source.name, reason: (error as Error).message })
    } finally {
      await rm(workDir, { recursive: true, force: true })
    }
  }
  return { offers, failures }
}
