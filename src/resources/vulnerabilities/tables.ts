import type { CvssRating, VulnerableKind } from './vulnerability.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    vulnerabilities: VulnerabilityRow
    vulnerability_feeds: VulnerabilityFeedRow
  }
}

/** A known vulnerability of one plugin or theme, or of WordPress. */
export interface VulnerabilityRow {
  /** Its ID in the feed, which may name several plugins. */
  feed_id: string
  kind: VulnerableKind
  /** `wordpress` for WordPress itself. */
  slug: string
  title: string
  /** JSON: `VersionRange[]`. */
  affected: string
  /** JSON: versions that fixed it, one of each branch. */
  fixed_in: string
  severity: CvssRating | null
  /** CVSS score times ten. */
  tenths: number | null
  cve: string | null
  link: string | null
  published_at: number | null
  /** When the feed had it last. */
  read_at: number
}

/** The feed of the settings. */
export interface VulnerabilityFeedRow {
  address: string
  /** When it was read last, or could not be read. */
  tried_at: number
  /** Why it could not be read, or null. */
  fault: string | null
}
