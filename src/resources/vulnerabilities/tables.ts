declare module '../../platform/db/schema.ts' {
  interface Schema {
    vulnerabilities: VulnerabilityRow
  }
}

/** A known vulnerability of one plugin or theme, or of WordPress. */
export interface VulnerabilityRow {
  /** Its ID in the feed, which may name several plugins. */
  feed_id: string
  kind: 'plugin' | 'theme' | 'core'
  /** `wordpress` for WordPress itself. */
  slug: string
  title: string
  /** JSON: `VersionRange[]`. */
  affected: string
  /** JSON: versions that fixed it, one of each branch. */
  fixed_in: string
  severity: 'low' | 'medium' | 'high' | 'critical' | null
  /** CVSS score times ten. */
  tenths: number | null
  cve: string | null
  link: string | null
  published_at: number | null
  /** When the feed had it last. */
  read_at: number
}
