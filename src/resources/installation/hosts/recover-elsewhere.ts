import type { Config } from '../../../config.ts'
import { forgetDirectoryOf, moveDirectory } from '../../../hosting/site-directories/directory.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { requeueOperation } from '../../../platform/operations/control.ts'
import type { Definitions } from '../../../platform/operations/definition.ts'
import {
  abandonOperation,
  bindToHost,
  holdFor,
  type OpenOperation,
  openOnHost,
} from '../../../platform/operations/host-operations.ts'
import { listCompleted } from '../../backups/public.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import { closeSite, holdSite, placeAgain, provisionSite, type Site, setHost, touchRoutes } from '../../sites/public.ts'
import { recoverSite } from '../recover-site.job.ts'

/** What moving sites off a lost host needs. */
export interface LossContext {
  readonly host: { readonly id: number; readonly name: string }
  readonly config: Pick<Config, 'datacenters'>
  readonly definitions: Definitions
  readonly now: number
}

/**
 * Assigns a site of a lost host to another one, which recovers it from its newest backups. Until then visitors get 503.
 * Queued operations of the site follow it and wait for that, and running ones fail. It is one transaction: a repeated
 * call finds the site elsewhere.
 * @returns whether the site has left the host. It stays when no host has a free place, or when the lost disk has the
 * only copy.
 */
export async function recoverElsewhere(tx: Tx, siteId: number, context: LossContext): Promise<boolean> {
  const { host, config, now } = context
  const site = await holdSite(tx, siteId)
  if (!site || site.hostId !== host.id) return true
  const open = await openOnHost(tx, host.id, siteId)
  const stays = async (why: string) => {
    for (const { id } of open) await abandonOperation(tx, id, `The host ${host.name} is lost, and ${why}`, context)
    return false
  }
  if (site.coreVersion !== null && !(await hasBackups(tx, siteId)))
    return stays('the site has no complete backup to recover from')
  const to = await placeAgain(tx, site, config.datacenters)
  if (to === undefined) return stays(`no other host in ${site.datacenterCode} has room for the site`)
  const queued = await endBegun(tx, open, context)
  await bindToHost(tx, siteId, { from: host.id, to })
  await setHost(tx, siteId, to)
  if (site.coreVersion === null) {
    await forgetDirectoryOf(tx, siteId)
    await touchRoutes(tx, siteId, now)
    return true
  }
  await moveDirectory(tx, siteId, { hostId: to, now })
  await orderRecovery(tx, { ...site, hostId: to }, queued, context)
  return true
}

const hasBackups = async (tx: Tx, siteId: number): Promise<boolean> =>
  (await listCompleted(tx, siteId, 'fs')).length > 0 && (await listCompleted(tx, siteId, 'db')).length > 0

/**
 * Ends running operations. A site that was being created has nothing to lose, and is created again.
 * @returns the operations that have not started
 */
async function endBegun(tx: Tx, open: readonly OpenOperation[], context: LossContext): Promise<OpenOperation[]> {
  const { host, definitions } = context
  for (const { id, type } of open.filter(({ isBegun }) => isBegun)) {
    const isCreation = type === provisionSite.name
    const reason = `The host ${host.name} was lost during this operation. Start the operation again.`
    // A creation that restarts at once need not be reported.
    await abandonOperation(tx, id, reason, { ...context, isTold: !isCreation })
    if (isCreation) await requeueOperation(tx, id, definitions)
  }
  return open.filter(({ isBegun }) => !isBegun)
}

async function orderRecovery(tx: Tx, site: Site, queued: readonly OpenOperation[], context: LossContext) {
  const { host, now } = context
  // Left from an earlier host that was lost before it started. It does the same.
  if (queued.some(({ type }) => type === recoverSite.name)) return touchRoutes(tx, site.id, now)
  const source = { lostHost: host.name }
  const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  const id = await change.start(recoverSite, { siteId: site.id }, { source })
  const ids = queued.map((operation) => operation.id)
  await holdFor(tx, ids, id)
  await closeSite(tx, site.id, id, now)
}
