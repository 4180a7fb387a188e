import { declareActions } from '../action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('account', {
  banned: 'Sign-ins were refused after too many wrong passwords',
  'session.started': 'Somebody signed in to the control panel',
  'password.set': 'The password of the control panel was set',
  'passkey.added': 'A passkey was added to the control panel',
  'passkey.removed': 'A passkey was removed from the control panel',
  'totp.enabled': 'Codes of an authenticator app are asked for',
  'totp.disabled': 'Codes of an authenticator app are not asked for any more',
})
