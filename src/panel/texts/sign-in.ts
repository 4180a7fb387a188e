export const signInTexts = {
  title: 'Stead',
  email: 'E-mail address',
  password: 'Password',
  code: 'Code of your authenticator app, or a recovery code',
  signIn: 'Sign in',
  lost: 'No password, or forgotten',
  back: 'Back',
  lostTitle: 'A new password',
  sent: 'If the address has an account, a link is on its way to it. It works once, within an hour.',
  sendLink: 'Send a link',
  operatorCan: 'Whoever runs this Stead can make one, too:',
  operatorCommand: 'stead account link --email …',
  welcome: 'Welcome to Stead',
  invited:
    'Somebody has made you a collaborator. Set a password, or let a device make a passkey: it opens what you may work on.',
  setTitle: 'Set a password',
  setAdvice: 'At least ten characters. A sentence is easy to remember and hard to guess.',
  newPassword: 'New password',
  set: 'Set it, and sign in',
  orPasskey: 'Or a passkey',
  addPasskey: 'Make it, and sign in',
}

export const signInAgainTexts = {
  title: 'Your session has ended',
  why: 'Sign in again: what you typed is still there.',
}

export const passkeysTexts = {
  title: 'Passkeys',
  what: 'A device signs in for you, after a finger, a face or a PIN: no password, and no code.',
  notHere: 'Browsers take passkeys over https, or on localhost, at a name alone. Open the panel there to add one.',
  add: 'Add a passkey',
  addIt: 'Add it',
  added: 'The passkey is added: sign in with it from now on.',
  name: 'What you call the device',
  head: ['Name', 'At', 'Made', 'Last used', 'Actions'],
  empty: 'None yet.',
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  use: 'Sign in with a passkey',
  prove: 'Use a passkey',
  notConfirmed: 'The device has not confirmed it.',
}
