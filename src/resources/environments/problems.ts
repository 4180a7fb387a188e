import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  environment_limit_reached: {
    status: 400,
    text: 'A live site can have {limit} environments, and this site has reached the limit. Unlink or delete one.',
    remedy:
      'Unlink an environment with `DELETE /v1/sites/{site_id}/environments/{environment_id}`, or delete its site.',
  },
  environment_not_possible: {
    status: 400,
    text: 'The sites cannot be linked: {reason}.',
    remedy:
      'An environment belongs to one live site of the same account, and has no environments of its own. Unlink it there first.',
  },
  environment_of_nothing: {
    status: 400,
    text: '{field}: {rule}.',
    remedy: 'With the preset `chosen`, name the folders, the tables, or both. The other presets take neither.',
  },
})
