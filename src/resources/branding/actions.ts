import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('account', {
  'branding.changed': 'The branding of the account was changed',
})
