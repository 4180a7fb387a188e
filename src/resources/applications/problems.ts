import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  application_limit_reached: {
    status: 400,
    text: 'An account can have {limit} API applications. Revoke one first.',
    remedy: 'Revoke applications that you no longer use. `GET /v1/applications` lists them.',
  },
})
