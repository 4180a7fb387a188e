import type { Visit } from './visit.ts'

const NAME = 'X-Robots-Tag'
const VALUE = 'noindex, nofollow'
const none: readonly string[] = []
const unlisted: readonly string[] = [NAME, VALUE]

/**
 * Raw pairs that every answer of a site ends with, whoever has made it: a copy that is worked on must not be found beside the site itself.
 * What the site says by the same header counts as well: search engines take the strictest. Never stored with a page, as it is the route that says it.
 */
export const robotsHeaders = ({ route }: Pick<Visit, 'route'>): readonly string[] =>
  route?.isUnlisted ? unlisted : none

/** The same as lines of a head, each with the end of the line before. */
export const robotsLines = (visit: Pick<Visit, 'route'>): string =>
  visit.route?.isUnlisted ? `\r\n${NAME}: ${VALUE}` : ''
