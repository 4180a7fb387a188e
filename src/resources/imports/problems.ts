import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  import_url_refused: {
    status: 400,
    text: 'urls: {fault}.',
    remedy: 'Send https addresses without a user name and password.',
  },
  import_too_large: {
    status: 400,
    text: 'files: they have {size} MB together, and this Stead imports at most {limit} MB.',
    remedy: 'Leave caches and backups out of the archive. Operators: raise `STEAD_IMPORT_MAX_MB`.',
  },
  import_part_elsewhere: {
    status: 409,
    text: 'The next part of this file begins at byte {received}.',
    remedy:
      'Send the bytes from there on. `received` of `GET /v1/sites/{site_id}/imports/{import_id}` says it as well.',
  },
  import_part_too_long: {
    status: 400,
    text: 'The part is longer than the {missing} bytes that the file lacks.',
    remedy: 'Send the file whose name and size the import was created with.',
  },
  import_part_damaged: {
    status: 400,
    text: 'sha256: the bytes that arrived have another one.',
    remedy: 'Send the part again.',
  },
  import_host_away: {
    status: 503,
    text: 'The host of the site cannot take the file now. Try again in a moment.',
    remedy: 'Send the part again after `Retry-After` seconds. Stead keeps the bytes that it received.',
  },
  import_source_refused: {
    status: 400,
    text: 'source: {fault}.',
    remedy: 'Name the machine, the login and the folder of the old site as the description of `source` says.',
  },
  import_exists: {
    status: 400,
    text: 'The site already has import {import}, which is {state}. Delete it, or wait until it has ended.',
    remedy: '`DELETE /v1/sites/{site_id}/imports/{import_id}` removes an import with its staged data.',
  },
  import_limit_reached: {
    status: 400,
    text: 'The account already has {limit} imports with staged data.',
    remedy: 'Start one of them or delete it. Staged data is removed after 24 hours.',
  },
  import_not_ready: {
    status: 400,
    text: 'The import cannot do this now: it is {state}.',
    remedy: 'Wait until the `state` of `GET /v1/sites/{site_id}/imports/{import_id}` is the one that is needed.',
  },
  import_blocked: {
    status: 400,
    text: 'The import cannot start: {reason}.',
    remedy: '`blockers` of its `plan` names all that is in the way.',
  },
})
