import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  collaborator_exists: {
    status: 400,
    text: 'email: {email} is a collaborator of this site already.',
    remedy: 'To change its roles: `POST /v1/collaborators/batch_create`.',
  },
  collaborator_is_owner: {
    status: 400,
    text: 'email: {email} owns the site and cannot be its collaborator.',
    remedy: 'Nothing: the owner may do everything.',
  },
  own_collaboration: {
    status: 400,
    text: 'email: you cannot change your own roles.',
    remedy: 'Ask the owner, or another collaborator that may.',
  },
  collaborator_lacks_wp_access: {
    status: 400,
    text: 'The collaborator has no WordPress user: it needs the role wp_access.',
    remedy: 'Give the collaborator `wp_access` first.',
  },
  collaborator_limit_reached: {
    status: 400,
    text: 'email: {what} may have {limit} collaborators. Remove one first.',
    remedy: 'Remove collaborators that are no longer needed.',
  },
  mail_limit_reached: {
    status: 429,
    text: 'This change would send a mail, and your account had {limit} sent within the last hour. Try again later.',
    remedy: 'Wait `Retry-After` seconds. Nothing was changed.',
  },
})
