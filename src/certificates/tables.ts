import type { CertifiedRole } from '../platform/mtls/role-name.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    local_authorities: LocalAuthorityRow
    role_authorities: RoleAuthorityRow
    role_certificates: RoleCertificateRow
    join_tokens: JoinTokenRow
    control_addresses: ControlAddressRow
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

/** An authority that certifies controls, edges and hosts. The newest that may sign does. */
export interface RoleAuthorityRow {
  /** From 1, ascending. */
  number: number
  /** PEM. */
  certificate: string
  /** Sealed. */
  private_key: string
  /** When every process trusts it, and it begins to sign. */
  signs_at: number
  expires_at: number
}

/** An issued certificate, kept until it expires. */
export interface RoleCertificateRow {
  serial: string
  role: CertifiedRole
  name: string
  issued_at: number
  expires_at: number
  revoked_at: number | null
}

/** A token with which one machine joins. */
export interface JoinTokenRow {
  /** SHA-256 of its secret. */
  hash: string
  role: CertifiedRole
  name: string
  expires_at: number
  /** SHA-256 of the public key that used it. */
  used_by: string | null
  /** Codes with commas, for a host. Null means all. */
  datacenters: string | null
}

/** Where a control listens for other machines. */
export interface ControlAddressRow {
  /** Host and port. */
  address: string
  seen_at: number
}
