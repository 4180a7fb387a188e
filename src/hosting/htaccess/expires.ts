import { lastOf } from './access-control.ts'
import type { Expiry, Section } from './rules.ts'

const UNITS: Readonly<Record<string, number>> = {
  year: 31_536_000,
  month: 2_592_000,
  week: 604_800,
  day: 86_400,
  hour: 3_600,
  minute: 60,
  second: 1,
}
/** Ten years. */
const MOST_SECONDS = 315_360_000

/**
 * @param text as in mod_expires: `access plus 1 month 2 days`, or `A2592000`
 * @returns undefined for any other form
 */
export function readExpiry(text: string): Expiry | undefined {
  const brief = /^([AM])(-?\d{1,10})$/i.exec(text)
  if (brief) return expiry(brief[1] as string, Number(brief[2]))
  const [base = '', ...rest] = text.trim().toLowerCase().split(/\s+/)
  if (!/^(?:access|now|modification)$/.test(base)) return undefined
  const amounts = rest[0] === 'plus' ? rest.slice(1) : rest
  if (amounts.length === 0 || amounts.length % 2 !== 0) return undefined
  let seconds = 0
  for (let index = 0; index < amounts.length; index += 2) {
    const unit = UNITS[(amounts[index + 1] as string).replace(/s$/, '')]
    if (unit === undefined || !/^-?\d{1,10}$/.test(amounts[index] as string)) return undefined
    seconds += Number(amounts[index]) * unit
  }
  return expiry(base, seconds)
}

const expiry = (base: string, seconds: number): Expiry => ({
  seconds: Math.max(-MOST_SECONDS, Math.min(MOST_SECONDS, seconds)),
  since: /^m/i.test(base) ? 'modification' : 'access',
})

/**
 * Applies mod_expires: sets when an answer becomes stale, unless a script sets it or forbids caching.
 * @param raw flat pairs
 * @param given its media type, if no header has it
 */
export function withExpiry(
  raw: readonly string[],
  sections: readonly Section[],
  { now, type: given }: { readonly now: number; readonly type: string | undefined },
): readonly string[] {
  if (lastOf(sections, (section) => section.expiresActive) !== true) return raw
  const of = (name: string): string | undefined => {
    const index = raw.findIndex((each, at) => at % 2 === 0 && each.toLowerCase() === name)
    return index < 0 ? undefined : raw[index + 1]
  }
  // The web server's own value for files applies only to files without rules.
  const control = of('x-stead-renderer') === 'static' ? undefined : of('cache-control')
  if (of('expires') !== undefined || /no-store|no-cache|private|max-age/i.test(control ?? '')) return raw
  const type = (of('content-type') ?? given ?? '').replace(/;.*$/s, '').trim().toLowerCase()
  const found =
    lastOf(sections, ({ expiresTypes }) => expiresTypes.get(type)) ??
    lastOf(sections, ({ expiresTypes }) => expiresTypes.get(type.replace(/\/.*$/, '/*'))) ??
    lastOf(sections, ({ expiresDefault }) => expiresDefault)
  if (!found) return raw
  const since = found.since === 'access' ? now : Date.parse(of('last-modified') ?? '')
  if (Number.isNaN(since)) return raw
  const at = since + found.seconds * 1_000
  const age = `max-age=${Math.max(0, Math.floor((at - now) / 1_000))}`
  const others = raw.filter((_, index) => (raw[index - (index % 2)] as string).toLowerCase() !== 'cache-control')
  return [...others, 'Cache-Control', control ? `${control}, ${age}` : age, 'Expires', new Date(at).toUTCString()]
}
