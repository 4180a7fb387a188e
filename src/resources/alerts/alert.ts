import Type from 'typebox'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { alertKindNames, alertKindOf } from './kinds.ts'

/** The site of an alert about the installation. */
export const PLATFORM = 0

/** How long alerts are kept after their end. */
export const ALERT_DAYS = 90

/** An alert with its site. */
export interface Alert {
  readonly id: number
  readonly siteId: number
  /** Null for the installation. */
  readonly siteName: string | null
  readonly kind: string
  readonly subject: string
  readonly detail: string
  readonly beganAt: number
  readonly endedAt: number | null
}

export const AlertSchema = Type.Object(
  {
    id: Type.Integer({ examples: [31] }),
    kind: Type.String({ description: 'What it is about', examples: ['site_down'] }),
    severity: oneOf(['critical', 'warning'], { examples: ['critical'] }),
    state: oneOf(['firing', 'resolved'], { examples: ['firing'] }),
    title: Type.String({ examples: ['Shop One is down'] }),
    detail: Type.String({ examples: ['The front page answers 500'] }),
    site_id: nullable(Type.Integer({ description: 'Null: it is about the installation', examples: [12] })),
    site_name: nullable(Type.String({ examples: ['Shop One'] })),
    subject: Type.String({
      description: 'What it is about within the site and kind, such as a domain. Empty if there is only one',
      examples: [''],
    }),
    began_at: Timestamp,
    ended_at: nullable(Type.String({ ...Timestamp, description: 'Null while it is open' })),
    read: Type.Boolean({ description: 'Whether you have marked it as read' }),
    muted: Type.Boolean({ description: 'Whether one of your mutes covers it' }),
  },
  { title: 'Alert' },
)

export const KindField = oneOf(alertKindNames, { description: 'Kind of alert', examples: ['site_down'] })

/** Returns the sentence of an alert, as it began or as it ended. */
export function titleOf({ kind, siteName, subject }: Alert, event: 'began' | 'ended'): string {
  const found = alertKindOf(kind)
  return found ? found[event](siteName ?? '', subject) : `${kind}: ${siteName ?? ''} ${subject}`.trim()
}

/** The Alert object of the API. */
export function presentAlert(
  alert: Alert,
  { readTo, isMuted }: { readonly readTo: number; readonly isMuted: boolean },
): Type.Static<typeof AlertSchema> {
  const { id, kind, detail, siteId, siteName, subject, beganAt, endedAt } = alert
  return {
    ...{ id, kind, detail, subject },
    severity: alertKindOf(kind)?.severity ?? 'warning',
    state: endedAt === null ? 'firing' : 'resolved',
    title: titleOf(alert, 'began'),
    site_id: siteId === PLATFORM ? null : siteId,
    site_name: siteName,
    began_at: timestamp(beganAt),
    ended_at: endedAt === null ? null : timestamp(endedAt),
    read: id <= readTo,
    muted: isMuted,
  }
}
