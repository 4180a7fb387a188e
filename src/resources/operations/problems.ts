import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  operation_not_yours: {
    status: 403,
    text: 'Only the account whose operation this is can cancel or retry it.',
    remedy: 'Ask its owner.',
  },
  operation_not_cancelable: {
    status: 400,
    text: 'The operation is {state} and can no longer be canceled.',
    remedy: 'Nothing: it has ended.',
  },
  operation_must_end: {
    status: 400,
    text: 'An operation of the type {type} cannot be canceled: what it ends was decided for good.',
    remedy: 'Nothing: it ends by itself. Retry it if it fails.',
  },
  operation_not_retryable: {
    status: 400,
    text: 'Only failed or canceled operations can be retried; this one is {state}.',
    remedy: 'Wait for it, or ask for the work again.',
  },
  operation_limit_reached: {
    status: 429,
    text: 'Too much is waiting to be done already: {limit} operations. Wait until some of it has ended.',
    remedy: '`GET /v1/operations?state=queued` shows what waits; wait `Retry-After` seconds, or cancel some of it.',
  },
})
