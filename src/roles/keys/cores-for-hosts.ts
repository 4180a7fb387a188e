import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { StorageFailure } from '../../backups/backup-store.ts'
import { CoreUnavailable, createCoreLibrary } from '../../hosting/core-library/core-library.ts'
import { isVersion } from '../../hosting/core-library/wordpress-version.ts'
import { TRUST_MS } from '../../resources/backups/backup.ts'
import { keepCore } from '../../resources/backups/take/keep-core.ts'
import { openBackups, type StorageSettings } from '../../resources/kit/open-backups.ts'
import type { ProcessContext } from '../process-context.ts'

/* Other hosts use the copies of WordPress in the storage. So a control stores them, from a source of its own. */

export type CoreSettings = Pick<ProcessContext['config'], 'coreSource' | 'wordpressApi' | 'allowPrivateFetch'>
type NeededContext = Pick<ProcessContext, 'database' | 'sealer' | 'log'> & {
  readonly config: StorageSettings & CoreSettings
}

/** A host asks again while it is `storing`. */
export interface CoreCopy {
  readonly state: 'stored' | 'storing' | 'unavailable' | 'failed'
  readonly reason?: string
}

export interface CoresForHosts {
  /** Stores a release in the storage, once for all sites. Answers after some seconds, whether it is stored or not. */
  keep(version: string): Promise<CoreCopy>
  stop(): Promise<void>
}

const ANSWER_MS = 8_000
/** How long a result is given to other hosts. */
const KNOWN_MS = 60_000
const MOST_AT_ONCE = 20

export function coresForHosts(context: NeededContext): CoresForHosts {
  const { config, log } = context
  const options = { ...config, allowPrivate: config.allowPrivateFetch, log }
  const folder = join(config.dataDir, 'cores-for-hosts')
  const backups = openBackups(context)
  const stopping = new AbortController()
  const storing = new Map<string, Promise<CoreCopy>>()
  let last: Promise<unknown> = Promise.resolve()

  async function store(version: string): Promise<CoreCopy> {
    const { signal } = stopping
    signal.throwIfAborted()
    try {
      // A host on this machine may have it.
      const there = (await createCoreLibrary(options).list()).find((core) => core.version === version)
      const own = createCoreLibrary({ ...options, dataDir: folder })
      const { path } = there ?? (await own.ensure(version, { signal }))
      await keepCore(backups, { version, corePath: path, trustMs: TRUST_MS.undo, signal })
      return { state: 'stored' }
    } catch (error) {
      if (error instanceof CoreUnavailable) return { state: 'unavailable', reason: error.message }
      if (error instanceof StorageFailure) return { state: 'failed', reason: error.message }
      throw error
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  function begin(version: string): Promise<CoreCopy> {
    const known = storing.get(version)
    if (known) return known
    // One after another, so that no host fills the disk with releases.
    const mine = last.catch(() => {}).then(() => store(version))
    last = mine
    storing.set(version, mine)
    const forget = () => storing.get(version) === mine && storing.delete(version)
    mine.then(() => setTimeout(forget, KNOWN_MS).unref(), forget)
    return mine
  }
  return {
    async keep(version) {
      if (!isVersion(version)) return { state: 'unavailable', reason: 'this is not a version of WordPress' }
      const isFull = !storing.has(version) && storing.size >= MOST_AT_ONCE
      const late = new AbortController()
      const after = pause<CoreCopy>(ANSWER_MS, { state: 'storing' }, { signal: late.signal })
      after.catch(() => {})
      return Promise.race([isFull ? after : begin(version), after]).finally(() => late.abort())
    },
    async stop() {
      stopping.abort()
      await last.catch(() => {})
    },
  }
}
