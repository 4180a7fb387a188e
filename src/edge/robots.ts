import type { Visit } from './visit.ts'

const NAME = 'X-Robots-Tag'
const VALUE = 'noindex, nofollow'
const none: readonly string[] = []
const unlisted: readonly string[] = [NAME, VALUE]

/**
 * Returns the raw pairs at the end of every answer of a site, whatever made it: a copy that is being worked on must not
 * be indexed beside the site itself. The site's own header counts as well, because search engines apply the strictest.
 * The pairs come from the route, so they are never stored with a page.
 */
export const robotsHeaders = ({ route }: Pick<Visit, 'route'>): readonly string[] =>
  route?.isUnlisted ? unlisted : none

/** Returns the same as lines of a head, each with the end of the line before. */
export const robotsLines = (visit: Pick<Visit, 'route'>): string =>
  visit.route?.isUnlisted ? `\r\n${NAME}: ${VALUE}` : ''
