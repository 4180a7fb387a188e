import type { StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { holdSite } from '../site.store.ts'
import { closeSite, openSite } from './closing.store.ts'

/** Running PHP may take this long before it is stopped. New requests are not accepted meanwhile. */
const GRACE_MS = 10_000

type Context = Pick<StepContext<unknown, HostServices>, 'operationId' | 'services' | 'now' | 'transaction'>

/**
 * Closes a site for the operation of a step, and stops its PHP and its SFTP connections. When it resolves, no PHP runs,
 * and only tasks with `whileHeld` can start it. Calling it again, after a crash or such a task, ensures the same.
 */
export async function closeForWork(context: Context, siteId: number): Promise<void> {
  const { services, operationId, now } = context
  await context.transaction(async (tx) => {
    if (await holdSite(tx, siteId)) await closeSite(tx, siteId, operationId, now())
  })
  await Promise.all([services.pool.hold(siteId, GRACE_MS), services.endSftp(siteId)])
  await services.keepClosed()
}

/** Opens a site that {@link closeForWork} has closed. Also rolls back a step that calls that. */
export async function openAfterWork(context: Context, siteId: number): Promise<void> {
  const { services, operationId, now } = context
  services.pool.release(siteId)
  await context.transaction((tx) => openSite(tx, siteId, operationId, now()))
}
