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
  /** In the format of `user-password.ts`. */
  hash: string
  set_at: number
}

export interface PasswordLinkRow {
  /** SHA-256 of the token in the link. */
  hash: string
  account_id: number
  created_at: number
  expires_at: number
  /** The operation that mails it, or `null` for a link without a mail. */
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
  /** `null` until a code of it was confirmed. It is inactive before. */
  confirmed_at: number | null
  /** The last time step whose code was used, because none counts twice (RFC 6238 §5.2). */
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
  /** In the authenticator's notation (base64url). */
  credential_id: string
  /** Host name of the control panel when it was created. It is valid only there. */
  host_name: string
  /** COSE, in base64url. */
  public_key: string
  /** How often the authenticator reports that it was used, or 0 if it does not count. */
  counter: number
  /** How browsers reach it, as JSON. */
  transports: string
  name: string
  created_at: number
  used_at: number | null
}

/** Used challenges, until they would be too old. */
export interface SpentChallengeRow {
  /** SHA-256. */
  hash: string
  expires_at: number
}
