import type { Tx } from '../../../platform/db/database.ts'
import type { AlertKindName } from '../kinds.ts'
import { endAlert, type RaisedAlert, raiseAlert } from '../raise-alert.ts'

/** What is wrong at this moment, of one kind. */
export interface AlertFinding extends Omit<RaisedAlert, 'kind' | 'beganAt'> {
  /** Whether it keeps an alert open, but opens none: a value that has only just gone back. */
  readonly isBorderline?: boolean
}

/** Changes of one transaction. The next run continues. */
const MOST = 500

/**
 * Opens an alert for each finding that has none, and ends those of the kind that are no longer found.
 * @param findings all of the kind
 */
export async function reconcileAlerts(
  tx: Tx,
  kind: AlertKindName,
  findings: readonly AlertFinding[],
  now: number,
): Promise<void> {
  const open = await tx
    .selectFrom('alerts')
    .select(['site_id as siteId', 'subject'])
    .where('kind', '=', kind)
    .where('ended_at', 'is', null)
    .execute()
  const keyOf = ({ siteId, subject = '' }: { siteId: number; subject?: string }) => `${siteId} ${subject}`
  const opened = new Set(open.map(keyOf))
  const found = new Set(findings.map(keyOf))
  for (const finding of findings.filter((each) => !each.isBorderline && !opened.has(keyOf(each))).slice(0, MOST))
    await raiseAlert(tx, { kind, siteId: finding.siteId, subject: finding.subject ?? '', detail: finding.detail }, now)
  for (const { siteId, subject } of open.filter((each) => !found.has(keyOf(each))).slice(0, MOST))
    await endAlert(tx, { kind, siteId, subject }, now)
}
