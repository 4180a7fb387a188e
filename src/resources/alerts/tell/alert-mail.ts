import { letter, type MailBrand, type Paragraph } from '../../../platform/mail/letter.ts'
import { titleOf } from '../alert.ts'
import type { DueNotice } from './notice.store.ts'

/** A mail names this many alerts, and counts the others. */
const MOST_NAMED = 50

/** Returns a mail about some alerts that began or ended. */
export function alertMail(notices: readonly DueNotice[], now: number, brand?: MailBrand) {
  const began = notices.filter(({ event }) => event === 'began')
  const [first] = began.length > 0 ? began : notices
  const others = notices.length - 1
  const title = first ? titleOf(first, first.event) : ''
  const subject = others > 0 ? `${title} (and ${others} more)` : title
  const left = notices.length - MOST_NAMED
  const paragraphs = [
    ...notices.slice(0, MOST_NAMED).map((notice) => paragraphOf(notice, now)),
    ...(left > 0 ? [`${left} more alerts are in the list of alerts.`] : []),
    { panel: '/alerts' },
    'You get at most one mail an hour about the same thing. To mute alerts, open the list. To choose which alerts you get by mail, open your alert settings:',
    { panel: '/account/alerts' },
  ]
  return letter(subject, paragraphs, brand)
}

function paragraphOf(notice: DueNotice, now: number): Paragraph {
  const { event, detail, beganAt, endedAt } = notice
  const title = titleOf(notice, event)
  if (event === 'began') return `${title}: ${detail}. Since ${minuteOf(beganAt)}.`
  return `${title}. It began at ${minuteOf(beganAt)} and lasted ${durationText((endedAt ?? now) - beganAt)}.`
}

/** A time as mails show it. */
const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** A duration in the largest unit that fits. */
export function durationText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`
}
