declare module '../../platform/db/schema.ts' {
  interface Schema {
    plugin_lists: PluginListRow
    plugin_changes: PluginChangeRow
  }
}

/** Plugins of a site as they were last seen. */
export interface PluginListRow {
  site_id: number
  /** JSON: `ListedPlugin[]`. */
  plugins: string
}

/** What an operation is at: there from before it touches the site until it knows how that has ended. */
export interface PluginChangeRow {
  operation_id: number
  /** As it was asked for. */
  path: string
  /** Below `wp-content/plugins`, of what is changed there. */
  folder: string | null
  /** JSON: what was active before. */
  active: string
}
