import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  unauthorized: {
    status: 401,
    text: 'The access token is missing. Send it as Authorization: Bearer <token>.',
    remedy: 'Send the header.',
  },
  wrong_scheme: {
    status: 401,
    text: 'The scheme of the header Authorization is not Bearer. Send Authorization: Bearer <token>; POST /auth/token gives a token for client id and secret.',
    remedy: 'Client id and secret are for `POST /auth/token` alone: send the token that it answers with.',
  },
  bare_token: {
    status: 401,
    text: 'The header Authorization has no scheme. Write Bearer before the token: Authorization: Bearer <token>.',
    remedy: 'Write `Bearer ` before the token.',
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
  proof_needed: {
    status: 403,
    text: 'Show first that it is you: confirm your password.',
    remedy:
      '`POST /v1/session/proof` with the password, then repeat the request. It counts for 15 minutes. Tokens of API applications are not asked for it.',
  },
  cross_site: {
    status: 401,
    text: 'The request came from another site. A session counts only for pages of this address.',
    remedy: 'Programs use tokens of an API application (`POST /auth/token`), not the cookie of a browser.',
  },
  no_session: {
    status: 400,
    text: 'This needs a session of the control panel. The request has none.',
    remedy: '`POST /v1/session` signs in.',
  },
})
