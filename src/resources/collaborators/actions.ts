import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'account.collaborator': 'Collaborators or their roles were changed',
  'collaborator.password_reset': "The password of a collaborator's WordPress user was reset",
  'collaborator.wordpress_user_failed': 'Updating the WordPress user of a collaborator failed',
})

/** Webhook events for these changes. */
export const events = declareEvents('collaborator_added', 'collaborator_deleted')
