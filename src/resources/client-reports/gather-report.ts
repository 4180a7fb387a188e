import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { dayName, dayOf } from '../../platform/log-store/days.ts'
import { type Site, siteAddress } from '../sites/public.ts'
import { storedMonths } from './client-report.store.ts'
import { countedIn, domainsNow, performanceIn, storedContents, uptimeIn, visitsIn } from './contents.store.ts'
import type { ReportContents } from './contents.ts'
import { type Month, monthName, monthOf, spanOf, startOfMonth } from './month.ts'

/** How many months reports are kept. */
export const KEPT_MONTHS = 24

type ReportedSite = Pick<Site, 'id' | 'name' | 'displayName' | 'primaryDomain' | 'createdAt'>

/** Collects the report of a month from what is stored now. */
export async function gatherReport(
  tx: Tx,
  { site, month, now, config }: { site: ReportedSite; month: Month; now: number; config: Config },
): Promise<ReportContents> {
  const [span, before] = [spanOf(month, now), spanOf(month - 1, now)]
  return {
    month: monthName(month),
    state: now < startOfMonth(month + 1) ? 'so_far' : 'complete',
    as_of: dayName(dayOf(now)),
    site_name: site.displayName,
    address: siteAddress(site, config),
    uptime: await uptimeIn(tx, site.id, span),
    ...(await countedIn(tx, site.id, span)),
    visits: await visitsIn(tx, site.id, span, before),
    performance: await performanceIn(tx, site.id, span, month),
    domains: await domainsNow(tx, site.id),
  }
}

/** Returns the months with a report, newest first: this one so far, the last one, and those that are stored. */
export async function monthsOnOffer(tx: Tx, site: ReportedSite, now: number): Promise<Month[]> {
  const current = monthOf(now)
  const open = [current, current - 1].filter((month) => site.createdAt < startOfMonth(month + 1))
  const stored = await storedMonths(tx, site.id)
  return [...new Set([...open, ...stored])].sort((one, other) => other - one)
}

/** Returns the report of a month on offer, or undefined. */
export async function reportOf(
  tx: Tx,
  { site, month, now, config }: { site: ReportedSite; month: Month; now: number; config: Config },
): Promise<ReportContents | undefined> {
  const stored = await storedContents(tx, site.id, month)
  if (stored) return stored
  const isOffered = (await monthsOnOffer(tx, site, now)).includes(month)
  return isOffered ? gatherReport(tx, { site, month, now, config }) : undefined
}
