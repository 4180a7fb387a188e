import { setTimeout as pause } from 'node:timers/promises'
import type { Tx } from '../../../platform/db/database.ts'
import { hurryOperation, requestCancel } from '../../../platform/operations/control.ts'
import { PermanentFailure, type StepContext } from '../../../platform/operations/definition.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import type { ControlServices } from '../../kit/control-services.ts'
import { operationThatClones } from '../clone/clone.store.ts'
import { openHosts } from '../create/creation.store.ts'
import { holdSite, openPurges } from '../site.store.ts'
import { deleteHeldSite } from './delete-held-site.ts'
import { openWorkOf, type SiteLeft, sitesLeftOf } from './leaving-sites.store.ts'
import { purgeSite } from './remove-site.job.ts'

type Services = Pick<ControlServices, 'database' | 'definitions'>
export type RemovalContext = Pick<
  StepContext<unknown, Services>,
  'services' | 'transaction' | 'signal' | 'now' | 'progress'
>

/** How often it looks whether hosts have removed the files. */
const LOOK_EVERY_MS = 500

/**
 * Deletes all sites of an account for good, those in the trash included. Waits until their hosts have removed the files,
 * and until operations of the account have ended, which it cancels. Sites that appear meanwhile go too.
 * @throws PermanentFailure when the files of a site cannot be removed
 */
export async function removeSitesOf(context: RemovalContext, accountId: number): Promise<void> {
  const { services, transaction, signal, now } = context
  /** The purge that this run has started, by site. */
  const started = new Map<number, number>()
  let most = 0
  for (;;) {
    const left = await sitesLeftOf(services.database.read, accountId)
    most = Math.max(most, left.length)
    for (const site of left) {
      signal.throwIfAborted()
      if (!site.isDeleted) await transaction((tx) => takeDown(tx, site.id, context))
      else await purge(context, { ...site, accountId }, started)
    }
    const work = await openWorkOf(services.database.read, accountId)
    for (const id of work) await transaction((tx) => requestCancel(tx, id, now(), services.definitions))
    if (left.length === 0 && work.length === 0) return
    context.progress((most - left.length) / Math.max(1, most))
    await pause(LOOK_EVERY_MS, undefined, { signal })
  }
}

/** Deletes a site, but not while an operation of another account clones it. */
async function takeDown(tx: Tx, siteId: number, { services, now }: RemovalContext): Promise<void> {
  const site = await holdSite(tx, siteId)
  if (!site || (await operationThatClones(tx, siteId)) !== undefined) return
  const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now: now() })
  await deleteHeldSite(tx, site, { ...change, now: now(), definitions: services.definitions })
}

/** Ensures that a deleted site is purged now. */
async function purge(
  { services, transaction, now }: RemovalContext,
  site: SiteLeft & { readonly accountId: number },
  started: Map<number, number>,
): Promise<void> {
  const before = started.get(site.id)
  const operation = before === undefined ? undefined : await findOperation(services.database.read, before)
  if (operation?.state === 'failed')
    throw new PermanentFailure(`The files of ${site.name} cannot be removed: ${operation.error}`)
  await transaction(async (tx) => {
    // Nobody recovers it from the trash at this moment.
    if (await holdSite(tx, site.id)) return
    const open = await openPurges(tx, site.id)
    for (const id of open) await hurryOperation(tx, id)
    if (open.length > 0 || (await sitesLeftOf(tx, site.accountId, site.id)).length === 0) return
    const hostId = site.hostId ?? (await openHosts(tx))[0]?.id
    if (hostId === undefined) return
    const about = { siteId: site.id, accountId: site.accountId, hostId, now: now() }
    started.set(site.id, await enqueue(tx, purgeSite, { siteId: site.id }, about))
  })
}
