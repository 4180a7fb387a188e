export const signInTexts = {
  title: 'Sign in to Stead',
  email: 'E-mail address',
  password: 'Password',
  code: 'Code from your authenticator app, or a recovery code',
  signIn: 'Sign in',
  lost: 'Forgot password?',
  back: 'Back to sign-in',
  lostTitle: 'Reset your password',
  sent: 'If this address has an account, Stead has sent it a link. The link works once, within an hour.',
  sendLink: 'Send link',
  operatorCan: 'Operators can also create a link on the server:',
  operatorCommand: 'stead account link --email …',
  welcome: 'Welcome to Stead',
  invited:
    'You were invited to collaborate. Set a password or create a passkey to open the sites that you were invited to.',
  setTitle: 'Set a password',
  setAdvice: 'At least ten characters. A sentence is easy to remember and hard to guess.',
  newPassword: 'New password',
  set: 'Set password',
  orPasskey: 'Or use a passkey',
  addPasskey: 'Create passkey',
}

export const signInAgainTexts = {
  title: 'Your session has ended',
  why: 'Sign in again. Stead kept what you typed.',
}

export const passkeysTexts = {
  title: 'Passkeys',
  list: 'Devices with a passkey',
  what: 'Sign in with a fingerprint, a face, or a PIN of your device, without password and code.',
  notHere: 'Browsers allow passkeys only over https, or on localhost, at a host name. Open the panel there to add one.',
  add: 'Add passkey',
  addIt: 'Add passkey',
  added: 'Passkey added. You can sign in with it now.',
  name: 'Name of the device',
  hiddenHeads: ['Actions'],
  head: ['Name', 'Address', 'Created', 'Last used', 'Actions'],
  remove: 'Remove passkey',
  removeOf: (name: string) => `Remove passkey ${name}`,
  use: 'Sign in with passkey',
  prove: 'Use passkey',
  notConfirmed: 'The device did not confirm the passkey. Try again.',
}
