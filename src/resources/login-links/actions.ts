import { declareActions } from '../action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'one_time_login.created': 'A link that logs in to WordPress once was made',
  'one_time_login.used': 'A link that logs in to WordPress once was used',
})
