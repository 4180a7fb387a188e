import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'sftp_user.password_reset': 'The password of an SFTP user was reset',
  'sftp_user.key_added': 'A public key was added to an SFTP user',
  'sftp_user.key_removed': 'A public key was removed from an SFTP user',
  'sftp_user.logged_in': 'An SFTP user logged in for the first time in a day',
  'sftp.disconnected': 'All SFTP connections of the site were ended',
})

/** Webhook events for these changes. */
export const events = declareEvents('sftp_user_password_reset')
