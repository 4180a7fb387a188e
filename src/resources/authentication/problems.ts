import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  unauthorized: {
    status: 401,
    text: 'The access token is missing. Send it as Authorization: Bearer <token>.',
    remedy: 'Add the `Authorization` header to the request.',
  },
  wrong_scheme: {
    status: 401,
    text: 'The Authorization header does not use the Bearer scheme. Send Authorization: Bearer <token>. To get a token, send your client id and secret to POST /auth/token.',
    remedy:
      'Send your client id and secret to `POST /auth/token` only. In all other requests, send the token that it returns.',
  },
  bare_token: {
    status: 401,
    text: 'The Authorization header has no scheme. Write Bearer before the token: Authorization: Bearer <token>.',
    remedy: 'Write `Bearer ` before the token.',
  },
  invalid_token: {
    status: 401,
    text: 'The access token is unknown, expired or revoked. Request a new one.',
    remedy: 'Get a new token from `POST /auth/token`, then repeat the request.',
  },
  forbidden: {
    status: 403,
    text: 'You need the role {role} on this site for this operation.',
    remedy: 'Ask the owner of the site to give you the role.',
  },
  insufficient_scope: {
    status: 403,
    text: 'This operation needs an API application with account owner permission.',
    remedy: 'Use an application that was created with `stead application create --owner`.',
  },
  operator_only: {
    status: 403,
    text: 'Only the operator of this installation can do this.',
    remedy: 'Ask the operator, who has the first account of the installation.',
  },
  proof_needed: {
    status: 403,
    text: 'Confirm your password to continue.',
    remedy:
      'Send your password to `POST /v1/session/proof`, then repeat the request. The confirmation is valid for 15 minutes. Tokens of API applications do not need it.',
  },
  cross_site: {
    status: 401,
    text: 'The request came from another website. A session is valid only for pages on this address.',
    remedy: "Programs must use the token of an API application (`POST /auth/token`) instead of a browser's cookie.",
  },
  no_session: {
    status: 400,
    text: 'This operation requires a session of the control panel. Sign in first.',
    remedy: 'Sign in with `POST /v1/session`.',
  },
})
