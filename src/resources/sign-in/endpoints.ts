import { getSession } from './get-session.ts'
import { beginPasskey } from './passkeys/begin-passkey.ts'
import { beginPasskeyByLink } from './passkeys/begin-passkey-by-link.ts'
import { beginPasskeySignIn } from './passkeys/begin-passkey-sign-in.ts'
import { createPasskey } from './passkeys/create-passkey.ts'
import { createPasskeyByLink } from './passkeys/create-passkey-by-link.ts'
import { deletePasskey } from './passkeys/delete-passkey.ts'
import { listPasskeys } from './passkeys/list-passkeys.ts'
import { proveByPasskey } from './passkeys/prove-by-passkey.ts'
import { signInByPasskey } from './passkeys/sign-in-by-passkey.ts'
import { changePassword } from './password/change-password.ts'
import { requestPasswordLink } from './password/request-password-link.ts'
import { usePasswordLink } from './password/use-password-link.ts'
import { proveIdentity } from './prove-identity.ts'
import { signIn } from './sign-in.ts'
import { signOut } from './sign-out.ts'
import { beginTotp } from './totp/begin-totp.ts'
import { confirmTotp } from './totp/confirm-totp.ts'
import { disableTotp } from './totp/disable-totp.ts'

export const endpoints = [
  signIn,
  beginPasskeySignIn,
  signInByPasskey,
  getSession,
  signOut,
  proveIdentity,
  proveByPasskey,
  requestPasswordLink,
  usePasswordLink,
  beginPasskeyByLink,
  createPasskeyByLink,
  changePassword,
  beginTotp,
  confirmTotp,
  disableTotp,
  listPasskeys,
  beginPasskey,
  createPasskey,
  deletePasskey,
]
