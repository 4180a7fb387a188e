import type { Tx } from '../../platform/db/database.ts'
import { timestamp } from '../../platform/http/schemas.ts'
import { endAlert, raiseAlert } from '../alerts/public.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import { holdSite, type Site } from '../sites/public.ts'
import { actions, events } from './actions.ts'
import {
  endIncident,
  findMonitoring,
  forgetStates,
  openIncident,
  storeMonitoring,
  takeStates,
} from './monitoring.store.ts'
import type { SiteMonitoringRow } from './tables.ts'
import { type Verdict, verdictOf } from './verdict.ts'

/** Judges a site from what the given edges say, and tells what has changed. */
export async function judgeSite(tx: Tx, siteId: number, edges: readonly string[], now: number): Promise<void> {
  const site = await holdSite(tx, siteId)
  const states = await takeStates(tx, siteId)
  if (!site) {
    await endIncident(tx, siteId, now)
    return forgetStates(tx, siteId)
  }
  const verdict = verdictOf(states.filter(({ edge }) => edges.includes(edge)))
  if (!verdict) return
  const known = await findMonitoring(tx, siteId)
  // A clock that was set back may have left a time in the future.
  const since = Math.min(known?.state === verdict.state ? known.since : verdict.since, now)
  if (known && isSame(known, verdict)) return
  await storeMonitoring(tx, { site_id: siteId, ...verdict, since })
  if (verdict.state === 'down') {
    await raiseAlert(tx, { kind: 'site_down', siteId, detail: verdict.detail, beganAt: since }, now)
    await tellDown(tx, site, { ...verdict, since }, known, now)
  } else if (known?.state === 'down') {
    await endAlert(tx, { kind: 'site_down', siteId }, now)
    await tellOver(tx, site, verdict, now)
  }
}

const isSame = (known: SiteMonitoringRow, { state, reason, detail }: Verdict): boolean =>
  known.state === state && known.reason === reason && known.detail === detail

async function tellDown(
  tx: Tx,
  site: Site,
  { reason, detail, since }: Verdict,
  known: SiteMonitoringRow | undefined,
  now: number,
): Promise<void> {
  // The same incident, with another reason.
  if (known?.state === 'down' || reason === null) return
  const id = await openIncident(tx, { site_id: site.id, reason, detail, began_at: since })
  await changeBy(tx, { actor: 'systems', about: aboutSite(site), now }).record({
    action: actions['site.down'],
    message: `The site is down: ${detail}`,
    event: { type: events.site_down, data: { incident_id: id, reason, detail, began_at: timestamp(since) } },
  })
}

/** A site whose owner or an operation closes it is down no longer, and not up either. */
async function tellOver(tx: Tx, site: Site, { state }: Verdict, now: number): Promise<void> {
  const ended = await endIncident(tx, site.id, now)
  if (!ended) return
  const { id, began_at: beganAt, reason } = ended
  const { record } = changeBy(tx, { actor: 'systems', about: aboutSite(site), now })
  const minutes = Math.max(1, Math.round((now - beganAt) / 60_000))
  const isBack = state === 'up' || state === 'slow'
  const data = { incident_id: id, reason, began_at: timestamp(beganAt), ended_at: timestamp(now) }
  await record({
    action: actions['site.up'],
    message: isBack
      ? `The site is up again after ${minutes === 1 ? '1 minute' : `${minutes} minutes`}`
      : 'The site was closed while it was down, which ends the incident',
    ...(isBack && { event: { type: events.site_up, data } }),
  })
}
