import { declareActions } from '../kit/action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('account', {
  'application.created': 'An API application was created',
  'application.revoked': 'An API application was revoked',
})
