declare module '../platform/db/schema.ts' {
  interface Schema {
    local_authorities: LocalAuthorityRow
  }
}

/** The authority of a domain that no public authority knows. */
export interface LocalAuthorityRow {
  domain: string
  /** PEM. */
  certificate: string
  /** Sealed. */
  private_key: string
  expires_at: number
  created_at: number
}
