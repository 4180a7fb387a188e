import { commonTexts } from './texts/common.ts'

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** Formats a time of the API in the person's language and time zone. */
export const timeOf = (iso: string | null): string =>
  iso === null ? commonTexts.unknown : format.format(new Date(iso))

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

/** Formats only the day. */
export const dayOf = (iso: string | null): string => (iso === null ? commonTexts.unknown : days.format(new Date(iso)))

const ago = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const

/** Formats how long ago, in the largest unit that fits. */
export function agoOf(iso: string, now = Date.now()): string {
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000)
  const found = units.find(([, each]) => seconds >= each)
  if (!found) return commonTexts.justNow
  const [unit, length] = found
  return ago.format(-Math.floor(seconds / length), unit)
}
