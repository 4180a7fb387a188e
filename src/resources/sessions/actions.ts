import { declareActions } from '../kit/action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('account', {
  'session.ended': 'A session of the control panel was ended',
})
