import { declareActions } from '../kit/action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'operation.canceled': 'A background operation was canceled',
  'operation.retried': 'A background operation was retried',
})
