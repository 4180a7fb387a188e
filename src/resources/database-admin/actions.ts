import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.phpmyadmin_ordered': 'A link to the database of a site was created',
  'wordpress.phpmyadmin_accessed': 'The database of a site was opened with a link',
})
