import { declareActions } from '../kit/action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'one_time_login.created': 'A one-time login link for WordPress was created',
  'one_time_login.used': 'A one-time login link for WordPress was used',
})
