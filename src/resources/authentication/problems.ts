import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  unauthorized: {
    status: 401,
    text: 'The access token is missing. Send it as Authorization: Bearer <token>.',
    remedy: 'Send the header.',
  },
  invalid_token: {
    status: 401,
    text: 'The access token is unknown, expired or revoked. Request a new one.',
    remedy: '`POST /auth/token`, then repeat the request.',
  },
  forbidden: {
    status: 403,
    text: 'You need the role {role} on this site for this operation.',
    remedy: "Ask the site's owner for the role.",
  },
  insufficient_scope: {
    status: 403,
    text: 'This operation needs an API application with account owner permission.',
    remedy: 'Use an application made with `--owner` (`stead application create`).',
  },
})
