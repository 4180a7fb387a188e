import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'operation.canceled': 'A background operation was canceled',
  'operation.paused': 'A background operation was paused',
  'operation.continued': 'A paused background operation was continued',
  'operation.retried': 'A background operation was retried',
})
