import type { ChangeFeed } from '../../platform/db/changes.ts'
import { Poller } from '../../platform/db/poller.ts'
import type { Unlock } from '../../platform/files/lock-file.ts'
import type { KeptCertificate } from '../tls/tls.store.ts'
import type { KnownRoutes } from './known-routes.ts'
import type { Route } from './route.ts'
import type { RouteChangesSince } from './routes.ts'

const LOOK_MS = 5_000
const LEAST_PAUSE_MS = 1_000
const AT_ONCE = 100

export interface FollowRoutesOptions {
  readonly known: Pick<KnownRoutes, 'position' | 'apply' | 'outdated' | 'put' | 'keepCertificate'>
  readonly changes: ChangeFeed
  /** Takes the lock of the process that follows. Resolves with undefined while another one has it. */
  readonly lock: () => Promise<Unlock | undefined>
  readonly changesSince: (seq: number | undefined) => Promise<RouteChangesSince>
  readonly load: (hostName: string) => Promise<Route | undefined>
  /** Returns the certificate that is stored under a name. */
  readonly loadCertificate: (hostName: string) => Promise<KeptCertificate | undefined>
}

/**
 * Keeps the known routes and their certificates up to date, in one of the processes of an edge: reads a route again
 * soon after each change, even if no visitor asks for it.
 * @returns `look`, which looks for changes now, and rejects when the database is unreachable
 */
export function followRoutes({ known, changes, lock, ...load }: FollowRoutesOptions) {
  let unlock: Unlock | undefined
  let isEnded = false
  const look = async () => {
    unlock ??= await lock()
    if (!unlock) return
    if (isEnded) return unlock()
    // Later changes are found by the next look, so a route that changes meanwhile is read again.
    known.apply(await load.changesSince(known.position))
    for (let names = known.outdated(AT_ONCE); names.length > 0 && !isEnded; names = known.outdated(AT_ONCE))
      for (const hostName of names) {
        const route = await load.load(hostName)
        const { listedAs = hostName, certifiedAt = 0 } = route ?? {}
        if (certifiedAt > 0) known.keepCertificate(listedAs, await load.loadCertificate(listedAs))
        known.put(hostName, route)
      }
  }
  const poller = new Poller({ changes, topic: 'routes', everyMs: LOOK_MS, leastPauseMs: LEAST_PAUSE_MS, look })
  poller.begin(0)
  return {
    look,
    close() {
      isEnded = true
      poller.end()
      unlock?.()
    },
  }
}
