import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  import_url_refused: {
    status: 400,
    text: 'urls: {fault}.',
    remedy: 'Send https addresses without a user name and password.',
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
