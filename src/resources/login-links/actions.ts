import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'one_time_login.created': 'A one-time login link for WordPress was created',
  'one_time_login.used': 'A one-time login link for WordPress was used',
})
