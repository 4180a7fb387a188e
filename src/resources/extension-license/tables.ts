import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    extension_licenses: LicenseRow
  }
}

/** One row a site at most. A new license replaces a revoked one. */
export interface LicenseRow {
  id: Generated<number>
  site_id: number
  license_key: string
  issued_at: number
  revoked_at: number | null
}
