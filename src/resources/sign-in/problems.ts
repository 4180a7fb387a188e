import { declareProblems } from '../../platform/http/problem.ts'

/** Errors that clients get from the rules of this resource. */
export const problems = declareProblems({
  wrong_password: {
    status: 401,
    text: 'The e-mail address or the password is wrong.',
    remedy: 'Try again, or request a link to set a new password with `POST /v1/password-links`.',
  },
  account_suspended: {
    status: 403,
    text: 'Your account is suspended. Contact the operator of this installation.',
    remedy: 'Ask the operator to resume the account.',
  },
  code_needed: {
    status: 401,
    text: 'A code is required to sign in. Send the code from your authenticator app, or a recovery code, as code.',
    remedy: 'Repeat the request with `code`.',
  },
  wrong_code: {
    status: 401,
    text: 'The code is wrong or was already used. Enter the next code.',
    remedy: 'Check the clock of your device, wait for the next code, or use a recovery code.',
  },
  too_many_guesses: {
    status: 429,
    text: 'Too many wrong passwords or codes. Try again in {seconds} s.',
    remedy: 'Wait `Retry-After` seconds.',
  },
  too_many_sign_ins: {
    status: 429,
    text: 'Too many people are signing in right now. Try again in a few seconds.',
    remedy: 'Wait `Retry-After` seconds.',
  },
  link_spent: {
    status: 400,
    text: 'The link was already used or has expired. Request a new one.',
    remedy: 'Request a link with `POST /v1/password-links`. Operators can run `stead account link` on the server.',
  },
  weak_password: {
    status: 400,
    text: 'password: {why}.',
    remedy: 'Choose a longer password that does not contain your e-mail address. It need not mix types of characters.',
  },
  totp_active: {
    status: 400,
    text: 'Sign-in with an authenticator app is already on. Turn it off first.',
    remedy: 'Turn it off with `DELETE /v1/totp`, then set up the new app.',
  },
  totp_not_begun: {
    status: 400,
    text: 'No authenticator app is being set up. Start again.',
    remedy: 'Start with `POST /v1/totp`.',
  },
  wrong_passkey: {
    status: 401,
    text: 'The passkey is unknown or was not confirmed in time. Try again, or use your password.',
    remedy: 'Request new options and try again. If the passkey was removed, sign in with your password.',
  },
  passkey_not_taken: {
    status: 400,
    text: 'The passkey cannot be added: it was not confirmed in time, belongs to another address, or is already registered. Try again.',
    remedy: 'Request new options with `POST /v1/passkeys/options`, then send the answer of the browser.',
  },
  passkey_needs_name: {
    status: 400,
    text: 'Passkeys work only on a host name with https, or on localhost. You opened the control panel at {origin}.',
    remedy: 'Open the control panel on a host name with https, or on http://localhost.',
  },
  passkey_limit_reached: {
    status: 400,
    text: 'An account can have {limit} passkeys. Remove one first.',
    remedy: 'Remove a passkey that you no longer use with `DELETE /v1/passkeys/{id}`.',
  },
})
