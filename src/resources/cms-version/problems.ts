import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  no_beta_offered: {
    status: 400,
    text: 'No WordPress beta is newer than the latest stable release, {latest}. Send "latest" for the stable release.',
    remedy: 'Send `{"version": "latest"}` for the latest stable release.',
  },
  php_too_old: {
    status: 400,
    text: 'WordPress {version} requires PHP {needed} or newer, but the site has PHP {has}. Choose a newer PHP version first.',
    remedy: 'Update PHP first: send `PUT /v1/sites/{site_id}` with `php_version`. Nothing was changed.',
  },
  releases_unknown: {
    status: 503,
    text: 'Stead could not check for WordPress releases: {reason}. Try again later.',
    remedy:
      'Try again later. Nothing was changed. Operators: let the host reach the WordPress release API, or set STEAD_CORE_SOURCE.',
  },
})
