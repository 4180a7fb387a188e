import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'note.created': 'A note was created',
  'note.updated': 'A note was changed',
  'note.deleted': 'A note was deleted',
})
