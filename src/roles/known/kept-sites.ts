import type { HostedRecord } from '../../hosting/host.store.ts'
import { isLost } from '../../platform/db/open-fault.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { HostInUse } from '../host/take-data-folder.ts'
import { type KnownContext, type KnownSites, knownSites } from './known-sites.ts'

/** Keeps what a host knows of its sites on its disk, as long as it may serve them. */
export interface KeptSites {
  /** Returns what the last process of the host knew. */
  read(): Promise<KnownSites | undefined>
  /** Says which host it is. Nothing is written before. */
  use(host: Omit<KnownSites, 'sites'>): void
  keep(sites: readonly HostedRecord[]): Promise<void>
  /** Deletes the file. The host must not serve its sites again without the database. */
  forget(): Promise<void>
  /** Does the work, and forgets the sites if it is refused: the host is lost, or another one by now. */
  forgetIfRefused<Result>(work: () => Promise<Result>): Promise<Result>
}

export function keptSites(context: KnownContext): KeptSites {
  const file = knownSites(context)
  let host: Omit<KnownSites, 'sites'> | undefined
  return {
    read: () => file.read(),
    use(facts) {
      host = facts
    },
    async keep(sites) {
      if (host) await file.write({ ...host, sites })
    },
    forget: () => file.forget(),
    async forgetIfRefused(work) {
      try {
        return await work()
      } catch (error) {
        // Another process has the folder, and the file.
        const isInUse = error instanceof HostInUse
        if (error instanceof OperatorError && !isInUse && !isLost(error.cause ?? error)) await file.forget()
        throw error
      }
    },
  }
}
