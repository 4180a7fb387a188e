import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    site_extensions: SiteExtensionRow
    extension_counts: ExtensionCountRow
  }
}

/** A plugin or theme of a site as last seen, without must-use plugins and drop-ins. */
export interface SiteExtensionRow {
  site_id: number
  kind: 'plugin' | 'theme'
  slug: string
  title: string
  version: string
  is_active: Flag
  /** The available version, or null if it is up to date. */
  update_version: string | null
  /** Whether WordPress updates it automatically. */
  is_automatic: Flag
}

/** On how many of an account's sites a version is installed: its own sites, and those it collaborates on. */
export interface ExtensionCountRow {
  account_id: number
  kind: 'plugin' | 'theme'
  slug: string
  version: string
  title: string
  sites: number
  active: number
  update_due: number
  automatic: number
}
