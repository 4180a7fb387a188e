import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  one_time_login_off: {
    status: 400,
    text: 'Log-in by links is switched off for the account that owns the site.',
    remedy: 'The operator can switch it on: `stead account update --email=… --one-time-login=yes`.',
  },
  one_time_login_stranger: {
    status: 400,
    text: 'email: {email} is neither the owner of the site nor a collaborator of it with the role wp_access.',
    remedy: 'Give that person the role `wp_access` on the site first.',
  },
})
