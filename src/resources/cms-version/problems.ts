import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  no_beta_offered: {
    status: 400,
    text: 'There is no beta of WordPress now that is newer than the latest stable release, {latest}.',
    remedy: 'Send `{"version": "latest"}` for the latest stable release.',
  },
  php_too_old: {
    status: 400,
    text: 'WordPress {version} needs PHP {needed} or newer; the site has PHP {has}.',
    remedy: 'Give the site a newer PHP first: `PUT /v1/sites/{site_id}` with `php_version`; nothing was changed.',
  },
  releases_unknown: {
    status: 503,
    text: 'Which releases of WordPress there are cannot be found out now: {reason}.',
    remedy:
      'Try again later; nothing was changed. Operators: the host has to reach the release API, or needs STEAD_CORE_SOURCE.',
  },
})
