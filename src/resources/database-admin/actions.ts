import { declareActions } from '../action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.phpmyadmin_ordered': 'A link that opens the database of a site was made',
  'wordpress.phpmyadmin_accessed': 'The database of a site was opened by a link',
})
