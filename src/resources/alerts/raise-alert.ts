import type { Tx } from '../../platform/db/database.ts'
import { timestamp } from '../../platform/http/schemas.ts'
import { firstAccount } from '../account/public.ts'
import { aboutSite, type ChangeEvent, changeBy, type Subject } from '../kit/change.ts'
import { findSite } from '../sites/public.ts'
import { type AlertCause, closeAlert, insertAlert, setAlertDetail } from './alert.store.ts'
import { PLATFORM } from './alert.ts'
import { events } from './events.ts'
import { type AlertKindName, alertKindOf } from './kinds.ts'

/** Of a subject or a detail. */
export const MOST_ALERT_CHARACTERS = 500

/** Something that is wrong. */
export interface RaisedAlert {
  readonly kind: AlertKindName
  /** {@link PLATFORM} for the installation. */
  readonly siteId: number
  readonly subject?: string
  /** A sentence for people, without full stop. Contains nothing secret. */
  readonly detail: string
  /** Default: now. */
  readonly beganAt?: number
}

type About = Omit<RaisedAlert, 'detail' | 'beganAt'>

/** Opens an alert, in the transaction of what causes it. If it is open already, it gets the new detail. */
export async function raiseAlert(
  tx: Tx,
  { detail: given, beganAt, ...about }: RaisedAlert,
  now: number,
): Promise<void> {
  const detail = given.slice(0, MOST_ALERT_CHARACTERS)
  const cause = causeOf(about)
  const since = Math.min(beganAt ?? now, now)
  const id = await insertAlert(tx, cause, { detail, beganAt: since })
  if (id === undefined) return setAlertDetail(tx, cause, detail)
  const type = alertKindOf(cause.kind)?.event
  const data = { alert_id: id, subject: cause.subject, detail, began_at: timestamp(since) }
  if (type) await tell(tx, cause.siteId, { type, data }, now)
}

/** Ends an alert, if it is open. */
export async function endAlert(tx: Tx, about: About, now: number): Promise<void> {
  const cause = causeOf(about)
  const ended = await closeAlert(tx, cause, now)
  if (!ended || !alertKindOf(cause.kind)?.event) return
  const { siteId, kind, subject } = cause
  const times = { began_at: timestamp(ended.beganAt), ended_at: timestamp(now) }
  const type = siteId === PLATFORM ? events.platform_alert_resolved : events.alert_resolved
  await tell(tx, siteId, { type, data: { alert_id: ended.id, kind, subject, ...times } }, now)
}

const causeOf = ({ kind, siteId, subject = '' }: About): AlertCause => ({
  ...{ kind, siteId },
  subject: subject.slice(0, MOST_ALERT_CHARACTERS),
})

async function tell(tx: Tx, siteId: number, event: ChangeEvent, now: number): Promise<void> {
  const about = await ownerOf(tx, siteId)
  if (about) await changeBy(tx, { actor: 'systems', about, now }).tell(event)
}

async function ownerOf(tx: Tx, siteId: number): Promise<Subject | undefined> {
  if (siteId !== PLATFORM) {
    const site = await findSite(tx, siteId)
    return site && aboutSite(site)
  }
  const operator = await firstAccount(tx)
  return operator && { accountId: operator.id }
}
