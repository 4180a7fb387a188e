import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  mu_plugin_exists: {
    status: 400,
    text: 'path: the account already has a must-use plugin {slug}. Update that plugin, or delete it first.',
    remedy: 'Update the existing plugin with `PUT /v1/mu-plugins/{id}`, or delete it first.',
  },
  mu_plugin_name_reserved: {
    status: 400,
    text: 'path: Stead uses the file name {slug}. Choose another file name.',
    remedy: 'Publish the file under another name.',
  },
  mu_plugin_limit_reached: {
    status: 400,
    text: 'An account can have {limit} must-use plugins. Delete one first.',
    remedy: 'Delete must-use plugins that you no longer need.',
  },
  no_host_yet: {
    status: 503,
    text: 'No host is available for this operation. Try again later.',
    remedy: 'Try again when a host has started. Nothing was changed. Operators: `/readyz` lists the hosts.',
  },
})
