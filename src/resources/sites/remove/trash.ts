import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import { isReservedSiteName, reservationOf } from '../../access/reserved-names.ts'
import type { NameSettings } from '../../access/service-names.ts'
import { isOperator } from '../../account/public.ts'
import { aboutSite, changeBy } from '../../kit/change.ts'
import { actions } from '../actions.ts'
import { keepPrimaryDomain } from '../addresses/primary-domain.store.ts'
import { hostNamesOf, putRoute } from '../addresses/route.store.ts'
import { problems } from '../problems.ts'
import {
  findDeletedSite,
  holdDeletedSite,
  isNameTaken,
  openPurges,
  unmarkDeleted,
  writtenAddressOf,
} from '../site.store.ts'
import { hostOfAddress, type Site } from '../site.ts'
import { configureSite } from '../switches/configure-site.job.ts'

/** Thrown while the site is being removed. */
export class SiteIsLeaving extends Error {
  override readonly name = 'SiteIsLeaving'
}

/**
 * Recovers a deleted site as long as its files are in the trash.
 * @returns `undefined` when no site has this name
 * @throws Problem `name_taken` when another site has the name by now, `name_reserved` when it is a name of the
 * installation
 * @throws SiteIsLeaving while its PHP is being stopped or its files are being removed
 */
export async function restoreFromTrash(
  tx: Tx,
  name: string,
  { config, now }: { readonly config: NameSettings; readonly now: number },
): Promise<Site | undefined> {
  const found = await findDeletedSite(tx, name)
  // It may have moved to another host until it is held. Another caller may have recovered it at this very moment.
  const site = found && (await holdDeletedSite(tx, found.id))
  if (!site) return undefined
  if (await isNameTaken(tx, name)) throw new Problem(problems.name_taken, { name })
  // A setting may have reserved its names while it was in the trash.
  if (isReservedSiteName(name, config)) throw new Problem(problems.name_reserved, { name })
  await requireFreeDomains(tx, site, config)
  for (const id of await openPurges(tx, site.id))
    if ((await requestCancel(tx, id, now)) !== 'canceled')
      throw new SiteIsLeaving(`${name} is being removed right now. Try again in a few seconds`)
  await unmarkDeleted(tx, site.id, now)
  // Its host names may belong to another site now, and the staging domain may have changed.
  const address = await writtenAddressOf(tx, site.id)
  if (site.primaryDomain !== null) await keepPrimaryDomain(tx, site.id, site.primaryDomain)
  else if (address) await putRoute(tx, site.id, hostOfAddress(address), now)
  const change = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  await change.start(configureSite, { siteId: site.id })
  await change.record({ action: actions['site.undeleted'], message: `Restored site ${name} from the trash` })
  return site
}

async function requireFreeDomains(tx: Tx, { id, accountId }: Site, config: NameSettings): Promise<void> {
  const isOfOperator = await isOperator(tx, accountId)
  for (const name of await hostNamesOf(tx, id)) {
    const reservation = reservationOf(name, config)
    if (reservation === 'service' || (reservation === 'domain' && !isOfOperator))
      throw new Problem(problems.name_reserved, { name })
  }
}
