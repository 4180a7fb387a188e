import Type from 'typebox'
import type { Config } from '../../../config.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { durableWith } from '../../../platform/operations/definition.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import { planNamed } from '../../account/public.ts'
import { quotaOfSettings } from '../../sites/public.ts'
import { PLATFORM } from '../alert.ts'
import { faultsSince, forgetFaults } from '../faults.store.ts'
import { endAlert } from '../raise-alert.ts'
import { causesSince, largeSites, plansInUse, reportingHosts } from './conditions.store.ts'
import { type AlertFinding, reconcileAlerts } from './reconcile.ts'

/** Shares of a disk. An alert ends when the share is lower by `BACK`, so that a disk at the limit has one alert. */
const FILLING = 0.8
const FULL = 0.95
const BACK = 0.02
/** Restarts and upgrades of a host are shorter. */
const SILENT_MS = 180_000
/** Without faults for this long, a site works again. A host whose clock differs more is not believed. */
const CALM_MS = 30 * MINUTE_MS
/** How long an alert about a moment stays open. */
const MOMENT_MS = DAY_MS

/** Opens and ends alerts about conditions that no transaction causes. */
export const judgeAlerts = durableWith<{ readonly database: Database; readonly config: Config }>()({
  name: 'alerts.judge',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    sites: { commit: (tx, { now, services }) => judgeSiteDisks(tx, services.config, now()) },
    hosts: { commit: (tx, { now }) => judgeHosts(tx, now()) },
    faults: { commit: (tx, { now }) => judgeFaults(tx, now()) },
    moments: { commit: (tx, { now }) => endMoments(tx, now()) },
  },
})

/** Compares the last measurement of each site with what its owner's plan allows. */
export async function judgeSiteDisks(tx: Tx, settings: Pick<Config, 'siteDiskMb'>, now: number): Promise<void> {
  const used: { readonly siteId: number; readonly share: number; readonly detail: string }[] = []
  for (const plan of await plansInUse(tx)) {
    const { siteDiskMb = settings.siteDiskMb } = planNamed(plan)
    const { bytes } = quotaOfSettings({ siteDiskMb: Math.min(siteDiskMb, settings.siteDiskMb) })
    for (const { siteId, usedBytes } of await largeSites(tx, plan, Math.ceil(bytes * (FILLING - BACK))))
      used.push({
        ...{ siteId, share: usedBytes / bytes },
        detail: `It uses ${megabytes(usedBytes)} of ${megabytes(bytes)} MB. Without space, it becomes read-only`,
      })
  }
  await reconcileAlerts(tx, 'site_disk_filling', over(used, FILLING), now)
  await reconcileAlerts(tx, 'site_disk_full', over(used, FULL), now)
}

const megabytes = (bytes: number): string => Math.round(bytes / (1 << 20)).toLocaleString('en')

/** Returns the findings about what uses more than a share of its disk. */
const over = (all: readonly (AlertFinding & { readonly share: number })[], limit: number): AlertFinding[] =>
  all
    .filter(({ share }) => share >= limit - BACK)
    .map(({ share, ...each }) => ({ ...each, isBorderline: share < limit }))

/** Looks at what hosts report: that they do, and how full their disks are. */
export async function judgeHosts(tx: Tx, now: number): Promise<void> {
  const hosts = await reportingHosts(tx, SILENT_MS)
  const about = (name: string) => ({ siteId: PLATFORM, subject: name })
  const silent = hosts
    .filter(({ isSilent }) => isSilent)
    .map(({ name, seenAt }) => ({
      ...about(name),
      detail: `It last reported at ${new Date(seenAt).toISOString()}. Its sites do not work`,
    }))
  const used = hosts.map(({ name, diskUsedShare: share }) => ({
    ...about(name),
    share,
    detail: `${Math.floor(share * 100)} % of the disk of its data folder are used. Without space, its sites become read-only`,
  }))
  await reconcileAlerts(tx, 'host_silent', silent, now)
  await reconcileAlerts(tx, 'host_disk_filling', over(used, FILLING), now)
  await reconcileAlerts(tx, 'host_disk_full', over(used, FULL), now)
}

/** Looks at the faults of sites that hosts have counted. A host notes them again each minute while they continue. */
export async function judgeFaults(tx: Tx, now: number): Promise<void> {
  const [from, to] = [now - CALM_MS, now + CALM_MS]
  for (const kind of ['php_errors', 'mail_bouncing'] as const)
    await reconcileAlerts(tx, kind, await faultsSince(tx, kind, from, to), now)
  await forgetFaults(tx, from, to)
}

/** An update that was undone is over after a day, if nothing ended it before. */
export async function endMoments(tx: Tx, now: number): Promise<void> {
  for (const cause of await causesSince(tx, 'update_undone', now - MOMENT_MS))
    await endAlert(tx, { kind: 'update_undone', ...cause }, now)
}

export const judgeAlertsOften = schedule({
  name: 'alerts.judge',
  everyMs: 60_000,
  definition: judgeAlerts,
  input: () => ({}),
})
