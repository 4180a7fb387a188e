import type { PhpVisitOptions, PooledSite, VisitorRequest } from '../php/pool/pool.ts'
import type { PhpResponse } from '../php/runtime.ts'

/** A site on this host. */
export interface HostedSite extends PooledSite {
  readonly state: 'deploying' | 'cloning' | 'live' | 'disabled'
  /** Whether an operation is changing it: nothing of it is served, and none of its events run. */
  readonly isClosed?: boolean
}

/** The component that runs PHP; `PhpPool` implements it. */
export interface PhpHandler {
  /** Starts the site's PHP if possible, because a visitor will arrive soon. */
  wake(site: PooledSite): void
  /** Returns whether the site's PHP runs. */
  isAwake(site: PooledSite): boolean
  /** @throws PhpBusy, PhpWaitsForItself, PhpTimeout, PhpCrashed, PhpAbandoned, PhpBodyTooLarge */
  handle(site: PooledSite, request: VisitorRequest, signal?: AbortSignal, visit?: PhpVisitOptions): Promise<PhpResponse>
}
