declare module '../../platform/db/schema.ts' {
  interface Schema {
    tokens: TokenRow
  }
}

export interface TokenRow {
  /** SHA-256 of the token. */
  hash: string
  application_id: number
  created_at: number
  expires_at: number
  revoked_at: number | null
}
