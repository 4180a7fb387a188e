import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  webhook_limit_reached: {
    status: 400,
    text: 'An account may have {limit} webhooks. Delete one first.',
    remedy: 'Delete webhooks that are no longer needed; one webhook can be told of all events of all sites.',
  },
  too_many_deliveries: {
    status: 429,
    text: 'The webhook has {limit} tests and repeated deliveries that wait. Try again when they have been sent.',
    remedy: 'Wait `Retry-After` seconds. `GET /v1/events` has everything that a receiver has missed.',
  },
})
