import { Problem } from '../../platform/http/problem.ts'
import { addSiteHost, checkHost, domainsOfSite, type HostOfSite, othersAt } from '../dns/public.ts'
import type { Change } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { expectCheck } from './check.store.ts'
import { checkDomain } from './check-domains.job.ts'
import { hostNameOf } from './domain.ts'

type Adding = Pick<Context, 'tx' | 'config' | 'now'> & {
  readonly caller: Pick<Context['caller'], 'accountId'>
} & Change

/** Gives a site a free host name. For a registrable domain, adds its `www` as well. */
export async function addHostToSite(context: Adding, host: HostOfSite): Promise<void> {
  await add(context, host)
  if (host.name === '') await addWww(context, host)
}

async function add(context: Adding, host: HostOfSite): Promise<void> {
  const { tx, now } = context
  const { site, zone, name } = host
  const hostName = hostNameOf({ name, zoneName: zone.name })
  await addSiteHost(context, host)
  await expectCheck(tx, site.id, hostName, now + SOON_MS)
  await context.start(checkDomain, { siteId: site.id, hostName }, { about: { accountId: site.accountId } })
}

/** If the first check is lost, the regular check follows after this time. */
const SOON_MS = 60_000

/** Adds the `www` name, unless it is already used for something else. */
async function addWww(context: Adding, apex: HostOfSite): Promise<void> {
  const { tx, now } = context
  const host = { ...apex, name: 'www' }
  try {
    await checkHost(context, host)
  } catch (error) {
    if (error instanceof Problem) return
    throw error
  }
  const hasIt = (await domainsOfSite(tx, apex.site.id)).some(
    ({ name, zoneId }) => name === 'www' && zoneId === apex.zone.id,
  )
  if (hasIt || (await othersAt(tx, host, now)).length > 0) return
  await add(context, host)
}
