import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  mu_plugin_exists: {
    status: 400,
    text: 'path: the account has a must-use plugin {slug} already.',
    remedy: 'Fetch that one again by `PUT /v1/mu-plugins/{id}`, or delete it first.',
  },
  mu_plugin_name_reserved: {
    status: 400,
    text: 'path: {slug} is the name of a file of Stead itself.',
    remedy: 'Offer the file under another name.',
  },
  mu_plugin_limit_reached: {
    status: 400,
    text: 'An account may have {limit} must-use plugins. Delete one first.',
    remedy: 'Delete must-use plugins that are no longer needed.',
  },
  no_host_yet: {
    status: 503,
    text: 'There is no host yet that could do the work.',
    remedy: 'Try again when a host has started; nothing was changed. Operators: `/readyz` shows the hosts.',
  },
})
