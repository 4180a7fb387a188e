import { robotsHeaders, robotsLines } from '../robots.ts'
import type { Visit } from '../visit.ts'

const NAME = 'Strict-Transport-Security'
/** One year. Without subdomains, which another server may serve. */
const VALUE = 'max-age=31536000'
const strict: readonly string[] = [NAME, VALUE]

type Seen = Pick<Visit, 'route' | 'client'>

/** Browsers accept it only over https (RFC 6797 §8.1). */
const isStrict = ({ route, client }: Seen): boolean => route?.forceTls === true && client.scheme === 'https'

/**
 * Returns the raw pairs at the end of every answer of a site, whatever made it. They come from the route, so they are
 * never stored with a page.
 */
export const siteHeaders = (visit: Seen): readonly string[] =>
  isStrict(visit) ? [...robotsHeaders(visit), ...strict] : robotsHeaders(visit)

/** Returns the same as lines of a head, each with the end of the line before. */
export const siteHeaderLines = (visit: Seen): string =>
  isStrict(visit) ? `${robotsLines(visit)}\r\n${NAME}: ${VALUE}` : robotsLines(visit)
