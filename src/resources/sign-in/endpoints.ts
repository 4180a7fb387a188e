import { beginTotp } from './begin-totp.ts'
import { changePassword } from './change-password.ts'
import { confirmTotp } from './confirm-totp.ts'
import { disableTotp } from './disable-totp.ts'
import { getSession } from './get-session.ts'
import { proveIdentity } from './prove-identity.ts'
import { requestPasswordLink } from './request-password-link.ts'
import { signIn } from './sign-in.ts'
import { signOut } from './sign-out.ts'
import { usePasswordLink } from './use-password-link.ts'

export const endpoints = [
  signIn,
  getSession,
  signOut,
  proveIdentity,
  requestPasswordLink,
  usePasswordLink,
  changePassword,
  beginTotp,
  confirmTotp,
  disableTotp,
]
