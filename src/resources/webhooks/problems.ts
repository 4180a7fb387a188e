import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  webhook_limit_reached: {
    status: 400,
    text: 'An account can have {limit} webhooks. Delete one first.',
    remedy: 'Delete webhooks that you no longer need. One webhook can receive all events of all sites.',
  },
  too_many_deliveries: {
    status: 429,
    text: 'The webhook has {limit} waiting tests and repeated deliveries. Try again after Stead has sent them.',
    remedy: 'Wait `Retry-After` seconds. You can read all missed events with `GET /v1/events`.',
  },
})
