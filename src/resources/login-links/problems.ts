import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  one_time_login_off: {
    status: 400,
    text: 'The owner of the site does not allow one-time login links.',
    remedy: 'The operator can turn them on with `stead account update --email=… --one-time-login=yes`.',
  },
  one_time_login_stranger: {
    status: 400,
    text: 'email: {email} is neither the owner of the site nor a collaborator with the role wp_access.',
    remedy: 'First give the person the role `wp_access` on the site.',
  },
})
