import { plainPage } from '../../platform/plain-page.ts'
import { isAcmeChallenge } from '../acme.ts'
import { pageAnswer } from '../page-answer.ts'
import type { Rule } from '../visit.ts'

const RETRY_SECONDS = 300

const page = plainPage({
  status: 503,
  title: 'This site is under maintenance',
  text: 'It will be back soon. Please try again in a few minutes.',
})

/**
 * What people who work on the site need: the dashboard (with admin-ajax.php) and the login, also of a network's sites,
 * and the files of core, themes, plugins, and the media library.
 */
const ADMINISTRATION =
  /^\/+(?:[_0-9a-zA-Z-]+\/+)?(?:wp-admin(?:[/?]|$)|wp-login\.php(?:[/?]|$)|wp-(?:includes|content)\/[^?]*\.(?!php)[a-z0-9]{2,5}(?:\?|$))/i

/** Where the host opens the site's database to people with a link. */
const DATABASE = /^\/stead-database\//

/** For logged-in users: the editor uses the REST API, and previews and the customizer are pages of the front end. */
const WORK = /^\/+(?:[_0-9a-zA-Z-]+\/+)?wp-json\/|[?&](?:rest_route|preview|customize_changeset_uuid)=/
const LOGGED_IN = /(?:^|;\s*)wordpress_logged_in_/

/**
 * Answers 503 to visitors of sites in maintenance. A forged login cookie does no harm, because WordPress itself decides
 * what its bearer may see.
 */
export const maintenance: Rule = (visit) => {
  const { route, target, request } = visit
  if (!route?.isInMaintenance || isAcmeChallenge(target)) return undefined
  if (ADMINISTRATION.test(target) || DATABASE.test(target)) return undefined
  if (WORK.test(target) && LOGGED_IN.test(request.headers.cookie ?? '')) return undefined
  return pageAnswer(visit, page, ['Retry-After', String(RETRY_SECONDS)])
}
