import type { Tx } from '../../../platform/db/database.ts'
import type { AlertKindName } from '../kinds.ts'
import { endAlert, MOST_ALERT_CHARACTERS, type RaisedAlert, raiseAlert } from '../raise-alert.ts'

/** What is wrong at this moment, of one kind. */
export interface AlertFinding extends Omit<RaisedAlert, 'kind' | 'beganAt'> {
  /** Whether it keeps an alert open, but opens none: a value that has only just gone back. */
  readonly isBorderline?: boolean
}

/** Changes of one transaction. The next run continues. */
const MOST = 500

/**
 * Opens an alert for each finding that has none, and ends those of the kind that are no longer found.
 * @param findings all of the kind, or of the sites
 * @param siteIds sites that the findings are about. Default: all
 */
export async function reconcileAlerts(
  tx: Tx,
  kind: AlertKindName,
  findings: readonly AlertFinding[],
  now: number,
  siteIds?: readonly number[],
): Promise<void> {
  const open = await openAlerts(tx, kind, siteIds)
  const opened = new Set(open.map(keyOf))
  const found = new Set(findings.map(keyOf))
  for (const finding of findings.filter((each) => !each.isBorderline && !opened.has(keyOf(each))).slice(0, MOST))
    await raiseAlert(tx, { kind, siteId: finding.siteId, subject: finding.subject ?? '', detail: finding.detail }, now)
  for (const { siteId, subject } of open.filter((each) => !found.has(keyOf(each))).slice(0, MOST))
    await endAlert(tx, { kind, siteId, subject }, now)
}

/**
 * Returns the sites for which {@link reconcileAlerts} would change something, in order. Call it outside a transaction, so
 * that comparing many sites keeps no writer waiting.
 * @param findings all of the kind
 */
export async function sitesThatDiffer(
  read: Tx,
  kind: AlertKindName,
  findings: readonly AlertFinding[],
): Promise<number[]> {
  const open = await openAlerts(read, kind)
  const opened = new Set(open.map(keyOf))
  const found = new Set(findings.map(keyOf))
  const differing = [
    ...findings.filter((each) => !each.isBorderline && !opened.has(keyOf(each))),
    ...open.filter((each) => !found.has(keyOf(each))),
  ]
  return [...new Set(differing.map(({ siteId }) => siteId))].sort((left, right) => left - right)
}

/** Alerts keep no longer subjects. */
const keyOf = ({ siteId, subject = '' }: { readonly siteId: number; readonly subject?: string }): string =>
  `${siteId} ${subject.slice(0, MOST_ALERT_CHARACTERS)}`

function openAlerts(tx: Tx, kind: AlertKindName, siteIds?: readonly number[]) {
  const query = tx
    .selectFrom('alerts')
    .select(['site_id as siteId', 'subject'])
    .where('kind', '=', kind)
    .where('ended_at', 'is', null)
  return (siteIds ? query.where('site_id', 'in', siteIds) : query).execute()
}
