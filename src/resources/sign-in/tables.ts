declare module '../../platform/db/schema.ts' {
  interface Schema {
    passwords: PasswordRow
    password_links: PasswordLinkRow
    sign_in_attempts: SignInAttemptsRow
    totp_secrets: TotpSecretRow
    recovery_codes: RecoveryCodeRow
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
