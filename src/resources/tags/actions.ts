import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'favorite.added': 'A site was marked as a favourite',
  'favorite.removed': 'A site was removed from the favourites',
  'tag.added': 'Tags were added to a site',
  'tag.removed': 'Tags were removed from a site',
})
