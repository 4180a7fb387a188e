import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    extension_licenses: LicenseRow
  }
}

/** At most one of a site: a new one takes the place of one that was revoked. */
export interface LicenseRow {
  id: Generated<number>
  site_id: number
  license_key: string
  issued_at: number
  revoked_at: number | null
}
