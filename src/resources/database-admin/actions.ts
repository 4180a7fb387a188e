import { declareActions } from '../kit/action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'wordpress.phpmyadmin_ordered': 'A link to the database of a site was created',
  'wordpress.phpmyadmin_accessed': 'The database of a site was opened with a link',
})
