import type { StepContext } from '../../../platform/operations/definition.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { holdSite } from '../site.store.ts'
import { closeSite, openSite } from './closing.store.ts'

/** What PHP is doing may take so long until it is ended; nobody new comes meanwhile. */
const GRACE_MS = 10_000

type Context = Pick<StepContext<unknown, HostServices>, 'operationId' | 'services' | 'now' | 'transaction'>

/**
 * Closes a site for the operation of a step, and ends its PHP and its SFTP connections: when it resolves none runs, and none starts but for a task with `whileHeld`.
 * Called again (after a crash, or after such a task) it makes sure of the same.
 */
export async function closeForWork(context: Context, siteId: number): Promise<void> {
  const { services, operationId, now } = context
  await context.transaction(async (tx) => {
    if (await holdSite(tx, siteId)) await closeSite(tx, siteId, operationId, now())
  })
  await Promise.all([services.pool.hold(siteId, GRACE_MS), services.endSftp(siteId)])
}

/** Opens a site that {@link closeForWork} has closed. Also the undo of a step that calls that. */
export async function openAfterWork(context: Context, siteId: number): Promise<void> {
  const { services, operationId, now } = context
  services.pool.release(siteId)
  await context.transaction((tx) => openSite(tx, siteId, operationId, now()))
}
