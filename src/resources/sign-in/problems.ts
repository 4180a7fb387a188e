import { declareProblems } from '../../platform/http/problem.ts'

/** What can go wrong for a client by the rules of this resource. */
export const problems = declareProblems({
  wrong_password: {
    status: 401,
    text: 'The e-mail address or the password is wrong.',
    remedy: 'Try again, or ask for a link to set a new password: `POST /v1/password-links`.',
  },
  code_needed: {
    status: 401,
    text: 'The password is right. Send the code of your authenticator app, or a recovery code, as well (code).',
    remedy: 'Repeat the request with `code`.',
  },
  wrong_code: {
    status: 401,
    text: 'The code is wrong, or has been used.',
    remedy: "Look at the device's clock, wait for the next code, or use a recovery code.",
  },
  too_many_guesses: {
    status: 429,
    text: 'Too many passwords or codes were wrong. Try again in {seconds} s.',
    remedy: 'Wait `Retry-After` seconds.',
  },
  too_many_sign_ins: {
    status: 429,
    text: 'Too many people sign in at this moment. Try again in some seconds.',
    remedy: 'Wait `Retry-After` seconds.',
  },
  link_spent: {
    status: 400,
    text: 'The link has been used, or is too old. Ask for a new one.',
    remedy: '`POST /v1/password-links`, or `stead account link` on the machine.',
  },
  weak_password: {
    status: 400,
    text: 'password: {why}.',
    remedy: 'Choose a longer one that does not contain the address; nothing is asked of its kinds of characters.',
  },
  totp_active: {
    status: 400,
    text: 'Codes of an authenticator app are asked for already. Switch that off first.',
    remedy: '`DELETE /v1/totp`.',
  },
  totp_not_begun: {
    status: 400,
    text: 'No authenticator app is being set up. Begin anew.',
    remedy: '`POST /v1/totp`.',
  },
  wrong_passkey: {
    status: 401,
    text: 'The passkey is unknown here, or was not confirmed in time.',
    remedy: 'Begin anew with new options; sign in with the password where the passkey was removed.',
  },
  passkey_not_taken: {
    status: 400,
    text: 'The passkey cannot be taken: it was not confirmed in time, for another address, or is known already.',
    remedy: '`POST /v1/passkeys/options`, then send what the browser made of those.',
  },
  passkey_needs_name: {
    status: 400,
    text: 'Browsers take passkeys for host names alone, over https or on localhost. The control panel was opened at {origin}.',
    remedy: 'Open the panel by a host name with https, or as http://localhost.',
  },
  passkey_limit_reached: {
    status: 400,
    text: 'The account has {limit} passkeys, which is the most. Remove one first.',
    remedy: '`DELETE /v1/passkeys/{id}` for one whose device is gone.',
  },
})
