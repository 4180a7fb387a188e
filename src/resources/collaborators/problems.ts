import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  collaborator_exists: {
    status: 400,
    text: 'email: {email} is already a collaborator of this site.',
    remedy: 'To change the roles, use `POST /v1/collaborators/batch_create`.',
  },
  collaborator_is_owner: {
    status: 400,
    text: 'email: {email} owns the site and cannot be its collaborator.',
    remedy: 'You need not do anything: the owner already has full access.',
  },
  own_collaboration: {
    status: 400,
    text: 'email: you cannot change your own roles. Ask the owner of the site.',
    remedy: 'Ask the owner, or another collaborator with access.',
  },
  collaborator_lacks_wp_access: {
    status: 400,
    text: 'The collaborator has no WordPress user. Give them the role wp_access first.',
    remedy: 'Give the collaborator the role `wp_access` first.',
  },
  collaborator_limit_reached: {
    status: 400,
    text: 'email: {what} can have {limit} collaborators. Remove one first.',
    remedy: 'Remove collaborators that you no longer need.',
  },
  mail_limit_reached: {
    status: 429,
    text: 'This change would send a mail, but your account has sent {limit} mails in the last hour. Try again later.',
    remedy: 'Wait `Retry-After` seconds. Nothing was changed.',
  },
})
