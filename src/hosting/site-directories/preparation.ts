import type { Log } from '../../platform/log/log.ts'
import type { Progress } from '../../platform/terminal/progress-bar.ts'
import type { CoreLibrary } from '../core-library/core-library.ts'
import { describeCoreProgress } from '../core-library/core-progress.ts'
import type { PhpPool } from '../php/pool/pool.ts'
import { type PhpRuntime, type PhpVersion, phpVersions, versionForAll } from '../php/runtime.ts'
import { keepMachineCode } from './keep-machine-code.ts'
import type { SiteDirectories } from './site-directories.ts'
import type { Spares } from './spares.ts'
import { ensureTemplate, hasTemplate, type Template, type TemplateParts } from './template.ts'

export interface PreparationOptions {
  readonly config: { readonly dataDir: string; readonly coreVersion: string }
  readonly library: CoreLibrary
  readonly runtime: PhpRuntime
  readonly siteDirectories: SiteDirectories
  readonly pool: Pick<PhpPool, 'startSpare'>
  readonly spares: Spares
  readonly dumpTemplate?: TemplateParts['dump'] | undefined
  readonly log: Log
  /** Reports the progress of the first preparation. */
  readonly onProgress: (progress: Progress) => void
}

/**
 * Everything that a host prepares before it needs it for sites: the core, the golden template, prepared site
 * directories, warm spares.
 */
export interface Preparation {
  /**
   * Starts. Resolves when the first attempt has ended, whether it failed or not. After a failure, it retries until one
   * succeeds.
   */
  start(): Promise<void>
  /** Returns the golden copy. Waits while it is being created, and retries after a failure. @throws CoreUnavailable */
  template(): Promise<Template>
  /** Replaces site directories and spares that were taken, in the background. */
  refill(): void
  state(): { preparing: boolean; wordpress: string | null; reason: string | null; warmSpares: number }
  stop(): Promise<void>
}

/** Pauses between attempts to get WordPress. Each is twice as long as the previous one. */
const FIRST_WAIT_MS = 10_000
const LONGEST_WAIT_MS = 300_000

export function createPreparation(options: PreparationOptions): Preparation {
  const { config, library, runtime, siteDirectories, pool, spares, log, dumpTemplate } = options
  /** Tried once per start, because a failure would repeat. */
  const codeTried = new Set<PhpVersion>()
  let making: Promise<Template> | undefined
  let done: Template | undefined
  let reason: string | null = null
  let preparing = true
  let isNew = false
  let refilling: Promise<void> = Promise.resolve()
  const stopped = new AbortController()
  let retry: NodeJS.Timeout | undefined
  const step = (doing: string): Progress => ({ doing, receivedBytes: 0, totalBytes: null })
  const tell = (progress: Progress) => {
    if (preparing) options.onProgress(progress)
  }

  const make = async (): Promise<Template> => {
    try {
      const core = await library.ensure(config.coreVersion, {
        signal: stopped.signal,
        onProgress: (progress) => tell(describeCoreProgress(progress)),
      })
      const usual = { dataDir: config.dataDir, core, runtime, uid: siteDirectories.installer }
      const parts = dumpTemplate ? { ...usual, dump: dumpTemplate } : usual
      isNew = !(await hasTemplate(parts))
      if (isNew) tell(step('Installing WordPress as the template for all sites'))
      done = await ensureTemplate(parts)
      reason = null
      return done
    } catch (error) {
      reason = (error as Error).message
      throw error
    }
  }
  const template = async (): Promise<Template> => {
    if (done) return done
    making ??= make().finally(() => {
      making = undefined
    })
    return making
  }
  const keepCode = async (golden: Template, version: PhpVersion) => {
    if (codeTried.has(version)) return
    codeTried.add(version)
    const isDone = await keepMachineCode({ runtime, siteDirectories, pool }, golden, version, stopped.signal).catch(
      (error) => log.warn({ err: error, version }, 'could not save compiled PHP, so PHP of sites starts more slowly'),
    )
    if (isDone === false) codeTried.delete(version)
  }
  const fill = async () => {
    const golden = done
    if (!golden || stopped.signal.aborted) return
    tell(step('Copying the template for the first sites'))
    await siteDirectories.fill(golden)
    tell(step('Warming PHP for the first site'))
    const usual = versionForAll(runtime.containment().runtimes)
    await keepCode(golden, usual)
    await spares.refill(golden)
    // Nobody is waiting for these.
    if (!preparing) for (const version of phpVersions) await keepCode(golden, version)
  }
  const refill = () => {
    refilling = refilling.then(fill).catch((error) => log.warn({ err: error }, 'could not prepare site directories'))
  }
  /** The source may become reachable, or the machine less busy, after a while. */
  const tryLater = (waitMs: number) => {
    if (stopped.signal.aborted) return
    retry = setTimeout(() => {
      template().then(refill, () => tryLater(Math.min(waitMs * 2, LONGEST_WAIT_MS)))
    }, waitMs)
    retry.unref()
  }
  return {
    template,
    refill,
    async start() {
      await library
        .tidy(stopped.signal)
        .catch((error) => log.warn({ err: error }, 'cleaning up the core library failed'))
      try {
        await template()
        refill()
        // A first start ends when the first site can be created instantly. Later starts have sites to serve.
        if (isNew) await refilling
        preparing = false
        if (isNew) refill()
      } catch (error) {
        if (!stopped.signal.aborted)
          log.error({ err: error, retryInMs: FIRST_WAIT_MS }, 'WordPress is not available for new sites')
        tryLater(FIRST_WAIT_MS)
      } finally {
        preparing = false
      }
    },
    state: () => ({ preparing, wordpress: done?.coreVersion ?? null, reason, warmSpares: spares.warm }),
    async stop() {
      stopped.abort()
      clearTimeout(retry)
      await spares.close()
      await refilling
    },
  }
}
