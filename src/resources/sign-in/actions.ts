import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('account', {
  banned: 'Sign-ins were blocked after too many wrong passwords',
  'session.started': 'A person signed in to the control panel',
  'password.set': 'The password of the control panel was set',
  'passkey.added': 'A passkey was added to the control panel',
  'passkey.removed': 'A passkey was removed from the control panel',
  'totp.enabled': 'Sign-in with an authenticator app was turned on',
  'totp.disabled': 'Sign-in with an authenticator app was turned off',
})
