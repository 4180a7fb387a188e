import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    passwords: PasswordRow
    password_links: PasswordLinkRow
    sign_in_attempts: SignInAttemptsRow
    totp_secrets: TotpSecretRow
    recovery_codes: RecoveryCodeRow
    passkeys: PasskeyRow
    spent_challenges: SpentChallengeRow
  }
}

export interface PasswordRow {
  account_id: number
  /** As `password.ts` writes it. */
  hash: string
  set_at: number
}

export interface PasswordLinkRow {
  /** SHA-256 of the token in the link. */
  hash: string
  account_id: number
  created_at: number
  expires_at: number
  /** That mails it; `null` for one that no mail carries. */
  operation_id: number | null
}

/** Guesses for an account, or from an address, since the last success. */
export interface SignInAttemptsRow {
  /** `account:<address it was tried with, hashed>` or `address:<network>`. */
  key: string
  count: number
  last_at: number
}

export interface TotpSecretRow {
  account_id: number
  /** Sealed. */
  secret: string
  /** `null`: not in force before a code of it was shown. */
  confirmed_at: number | null
  /** The last time step whose code was used: none counts twice (RFC 6238 §5.2). */
  last_step: number
}

export interface RecoveryCodeRow {
  account_id: number
  /** SHA-256. */
  hash: string
}

export interface PasskeyRow {
  id: Generated<number>
  account_id: number
  /** As the authenticator names it (base64url). */
  credential_id: string
  /** Of the control panel when it was made: it counts there alone. */
  host_name: string
  /** COSE, in base64url. */
  public_key: string
  /** How often the authenticator says that it was used; 0 for those that do not count. */
  counter: number
  /** JSON: how browsers reach it. */
  transports: string
  name: string
  created_at: number
  used_at: number | null
}

/** What was signed once, until it would be too old. */
export interface SpentChallengeRow {
  /** SHA-256. */
  hash: string
  expires_at: number
}
