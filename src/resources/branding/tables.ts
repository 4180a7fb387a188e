import type { LogoType } from './agency-logo.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    account_branding: AccountBrandingRow
  }
}

/** What an account shows to its clients. Null: Stead's default. */
export interface AccountBrandingRow {
  account_id: number
  name: string | null
  /** `#rrggbb` */
  color: string | null
  /** Base64. */
  logo: string | null
  logo_type: LogoType | null
  /** Pixels. Null for a logo that a Stead before 0153 stored. */
  logo_width: number | null
  logo_height: number | null
  reply_to: string | null
  updated_at: number
}
