import type { Generated } from 'kysely'
import type { HostState } from './host-state.ts'
import type { DatabaseKind } from './site-database/database-kind.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    hosts: HostRow
    site_homes: SiteHomeRow
    installation: InstallationRow
  }
}

/** A machine (or, embedded, a process) that keeps sites. */
export interface HostRow {
  id: Generated<number>
  /** Stable name of the host; its data folder holds it. */
  name: string
  /** Random, as in the folder's identity file; null for a host that has not started since there are identities. */
  identity: string | null
  /** Raised by each start of the host; one that holds a lower one has been replaced. */
  epoch: Generated<number>
  /** http address at which edges reach it, as it last announced. */
  address: string
  /** Comma-separated codes; empty: all. */
  datacenters: string
  max_sites: number
  /** What the host says of itself: containment, core library, … (JSON). */
  facts: string
  seen_at: number
  state: Generated<HostState>
  /** Since when it has this state, milliseconds UTC; null: from its first start. */
  state_at: Generated<number | null>
  /** How many of its sites with an id up to `counted_to` are not deleted; counted anew with each report. */
  counted_sites: Generated<number>
  counted_to: Generated<number>
}

export interface SiteHomeRow {
  id: Generated<number>
  host_id: number
  state: 'making' | 'prepared' | 'taken' | 'leaving'
  core_version: string
  install: string
  database: Generated<DatabaseKind>
  site_id: number | null
  created_at: number
  /** When the owner was last told that the site could not write. */
  disk_full_at: Generated<number | null>
}

/** One row: which installation of Stead this database is. */
export interface InstallationRow {
  id: number
  /** Random, never changed; data folders of hosts hold it too. */
  identity: string
  /** What the master key in force derives to; null until a first start with a key. */
  key_mark: string | null
  created_at: number
  /** Milliseconds UTC; null: never. */
  records_backed_up_at: Generated<number | null>
  /** Since when the records cannot be backed up, milliseconds UTC; null: they can. */
  records_failing_since: Generated<number | null>
}
