import { robotsHeaders, robotsLines } from '../robots.ts'
import type { Visit } from '../visit.ts'

const NAME = 'Strict-Transport-Security'
/** A year; not for names below, which may be somebody else's to serve. */
const VALUE = 'max-age=31536000'
const strict: readonly string[] = [NAME, VALUE]

type Seen = Pick<Visit, 'route' | 'client'>

/** Browsers believe it over https alone (RFC 6797 §8.1). */
const isStrict = ({ route, client }: Seen): boolean => route?.forceTls === true && client.scheme === 'https'

/** Raw pairs that every answer of a site ends with, whoever has made it. Never stored with a page, as it is the route that says them. */
export const siteHeaders = (visit: Seen): readonly string[] =>
  isStrict(visit) ? [...robotsHeaders(visit), ...strict] : robotsHeaders(visit)

/** The same as lines of a head, each with the end of the line before. */
export const siteHeaderLines = (visit: Seen): string =>
  isStrict(visit) ? `${robotsLines(visit)}\r\n${NAME}: ${VALUE}` : robotsLines(visit)
