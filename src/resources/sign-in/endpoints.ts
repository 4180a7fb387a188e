import { beginPasskey } from './begin-passkey.ts'
import { beginPasskeyByLink } from './begin-passkey-by-link.ts'
import { beginPasskeySignIn } from './begin-passkey-sign-in.ts'
import { beginTotp } from './begin-totp.ts'
import { changePassword } from './change-password.ts'
import { confirmTotp } from './confirm-totp.ts'
import { createPasskey } from './create-passkey.ts'
import { createPasskeyByLink } from './create-passkey-by-link.ts'
import { deletePasskey } from './delete-passkey.ts'
import { disableTotp } from './disable-totp.ts'
import { getSession } from './get-session.ts'
import { listPasskeys } from './list-passkeys.ts'
import { proveByPasskey } from './prove-by-passkey.ts'
import { proveIdentity } from './prove-identity.ts'
import { requestPasswordLink } from './request-password-link.ts'
import { signIn } from './sign-in.ts'
import { signInByPasskey } from './sign-in-by-passkey.ts'
import { signOut } from './sign-out.ts'
import { usePasswordLink } from './use-password-link.ts'

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
