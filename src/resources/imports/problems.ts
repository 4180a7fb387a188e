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
    text: 'files: their total size is {size} MB, and this Stead imports at most {limit} MB.',
    remedy: 'Leave caches and backups out of the archive. Operators: raise `STEAD_IMPORT_MAX_MB`.',
  },
  import_part_elsewhere: {
    status: 409,
    text: 'The next part of this file begins at byte {received}.',
    remedy:
      'Send the bytes from there on. `received` of `GET /v1/sites/{site_id}/imports/{import_id}` has the same number.',
  },
  import_part_too_long: {
    status: 400,
    text: 'The part is longer than the remaining {missing} bytes of the file.',
    remedy: 'Send the file with the name and size from the creation of the import.',
  },
  import_part_damaged: {
    status: 400,
    text: 'sha256: does not match the bytes that arrived.',
    remedy: 'Send the part again.',
  },
  import_host_away: {
    status: 503,
    text: 'The host of the site cannot accept the file now. Try again in a moment.',
    remedy: 'Send the part again after `Retry-After` seconds. Stead keeps the bytes that it received.',
  },
  import_source_refused: {
    status: 400,
    text: 'source: {fault}.',
    remedy: 'Correct the machine, the login or the folder of the old site. The description of `source` explains them.',
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
    remedy:
      '`GET /v1/sites/{site_id}/imports/{import_id}` shows the `state`. An upload needs `uploading`, a fetch `waiting`, and a start `ready`. Before you delete an import, wait until its operation has ended.',
  },
  import_blocked: {
    status: 400,
    text: 'The import cannot start: {reason}.',
    remedy: '`blockers` of its `plan` lists all reasons.',
  },
})
