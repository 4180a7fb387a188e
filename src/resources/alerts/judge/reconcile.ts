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
 */
export async function reconcileAlerts(
  tx: Tx,
  kind: AlertKindName,
  findings: readonly AlertFinding[],
  now: number,
  { siteIds, updatesDetails = false }: Reconciliation = {},
): Promise<void> {
  const open = await openAlerts(tx, kind, siteIds)
  const opened = new Map(open.map((alert) => [keyOf(alert), alert]))
  const found = new Set(findings.map(keyOf))
  for (const finding of findings.filter((each) => isToRaise(each, opened, updatesDetails)).slice(0, MOST))
    await raiseAlert(tx, { kind, siteId: finding.siteId, subject: finding.subject ?? '', detail: finding.detail }, now)
  for (const { siteId, subject } of open.filter((each) => !found.has(keyOf(each))).slice(0, MOST))
    await endAlert(tx, { kind, siteId, subject }, now)
}

export interface Reconciliation {
  /** Sites that the findings are about. Default: all. */
  readonly siteIds?: readonly number[]
  /** Whether open alerts get the newest detail. Values that change all the time stay as they were. */
  readonly updatesDetails?: boolean
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
  { updatesDetails = false }: Pick<Reconciliation, 'updatesDetails'> = {},
): Promise<number[]> {
  const open = await openAlerts(read, kind)
  const opened = new Map(open.map((alert) => [keyOf(alert), alert]))
  const found = new Set(findings.map(keyOf))
  const differing = [
    ...findings.filter((each) => isToRaise(each, opened, updatesDetails)),
    ...open.filter((each) => !found.has(keyOf(each))),
  ]
  return [...new Set(differing.map(({ siteId }) => siteId))].sort((left, right) => left - right)
}

function isToRaise(
  finding: AlertFinding,
  opened: ReadonlyMap<string, { readonly detail: string }>,
  updatesDetails: boolean,
): boolean {
  const alert = opened.get(keyOf(finding))
  if (!alert) return !finding.isBorderline
  return updatesDetails && alert.detail !== finding.detail.slice(0, MOST_ALERT_CHARACTERS)
}

/** Alerts keep no longer subjects. */
const keyOf = ({ siteId, subject = '' }: { readonly siteId: number; readonly subject?: string }): string =>
  `${siteId} ${subject.slice(0, MOST_ALERT_CHARACTERS)}`

function openAlerts(tx: Tx, kind: AlertKindName, siteIds?: readonly number[]) {
  const query = tx
    .selectFrom('alerts')
    .select(['site_id as siteId', 'subject', 'detail'])
    .where('kind', '=', kind)
    .where('ended_at', 'is', null)
  return (siteIds ? query.where('site_id', 'in', siteIds) : query).execute()
}
