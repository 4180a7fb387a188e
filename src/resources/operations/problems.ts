import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  operation_not_yours: {
    status: 403,
    text: 'Only the account that owns this operation can change it.',
    remedy: 'Ask the owner of the operation.',
  },
  operation_not_cancelable: {
    status: 400,
    text: 'The operation is {state} and can no longer be canceled.',
    remedy: 'You need not do anything: the operation has ended.',
  },
  operation_must_end: {
    status: 400,
    text: 'Operations of type {type} cannot be canceled, because their effect is final.',
    remedy: 'Wait until the operation ends. Retry it if it fails.',
  },
  operation_not_pausable: {
    status: 400,
    text: 'Only operations that move many sites can be paused, until they end. This one is {type}, and {state}.',
    remedy: 'Cancel the operation, or wait until it ends.',
  },
  operation_not_retryable: {
    status: 400,
    text: 'Only failed or canceled operations can be retried, and this one is {state}.',
    remedy: 'Wait until the operation ends, or start a new one.',
  },
  operation_limit_reached: {
    status: 429,
    text: 'Too many operations are queued ({limit}). Wait until some of them end.',
    remedy: 'Wait `Retry-After` seconds, or cancel queued operations. `GET /v1/operations?state=queued` lists them.',
  },
})
