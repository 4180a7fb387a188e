import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('account', {
  'session.ended': 'A session of the control panel was ended',
})
