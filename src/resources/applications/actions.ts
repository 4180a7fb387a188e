import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('account', {
  'application.created': 'An API application was created',
  'application.revoked': 'An API application was revoked',
})
