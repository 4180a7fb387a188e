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
  operation_not_retryable: {
    status: 400,
    text: 'Only failed or canceled operations can be retried; this one is {state}.',
    remedy: 'Wait for it, or ask for the work again.',
  },
  site_unavailable: {
    status: 503,
    text: 'The site does not answer right now: {reason}. Try again in a minute.',
    remedy:
      'The operation in `Operation-Id` says more. With the same `Idempotency-Key` you wait for it again; to ask for another one, take a new key.',
  },
  site_cannot: {
    status: 409,
    text: 'The site cannot do this as it stands: {reason}.',
    remedy:
      'Waiting does not help: change what the text names, then ask again with a new `Idempotency-Key`. The operation in `Operation-Id` says more.',
  },
  operation_limit_reached: {
    status: 429,
    text: 'Too much is waiting to be done already: {limit} operations. Wait until some of it has ended.',
    remedy: '`GET /v1/operations?state=queued` shows what waits; wait `Retry-After` seconds, or cancel some of it.',
  },
})
