import { declareActions } from '../action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('account', {
  dns: 'DNS records of a zone were changed',
})
