import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    plugin_lists: PluginListRow
    plugin_changes: PluginChangeRow
  }
}

/** Plugins of a site as last seen. */
export interface PluginListRow {
  site_id: number
  /** JSON: `ListedPlugin[]`. */
  plugins: string
  /** When they are listed again. */
  due_at: Generated<number>
}

/** The change in progress of an operation. It exists from before the site is touched until the result is known. */
export interface PluginChangeRow {
  operation_id: number
  /** As requested. */
  path: string
  /** The changed path below `wp-content/plugins`. */
  folder: string | null
  /** JSON: what was active before. */
  active: string
}
