import type { Generated } from 'kysely'
import type { HostState } from './host-state.ts'
import type { DatabaseKind } from './site-database/database-kind.ts'
import type { DirectoryState } from './site-directories/directory.store.ts'

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
  /** The stable name of the host, which its data folder contains. */
  name: string
  /**
   * Random, as in the folder's identity file. Null for a host that has not started since identities were introduced.
   */
  identity: string | null
  /** Each start of the host increases it. A process with a lower one has been replaced. */
  epoch: Generated<number>
  /** The HTTP address at which edges reach it, as it last announced. */
  address: string
  /** Comma-separated codes. Empty means all. */
  datacenters: string
  max_sites: number
  /** The facts that the host reports: containment, core library, … (JSON). */
  facts: string
  seen_at: number
  state: Generated<HostState>
  /** The time since when it has this state, in milliseconds UTC. Null since its first start. */
  state_at: Generated<number | null>
  /** The number of its sites with an id up to `counted_to` that are not deleted. Each report counts again. */
  counted_sites: Generated<number>
  counted_to: Generated<number>
}

export interface SiteHomeRow {
  id: Generated<number>
  host_id: number
  state: DirectoryState
  core_version: string
  install: string
  database: Generated<DatabaseKind>
  site_id: number | null
  created_at: number
  /** The time when the owner was last notified that the site could not write. */
  disk_full_at: Generated<number | null>
}

/** One row that identifies the installation of Stead that this database belongs to. */
export interface InstallationRow {
  id: number
  /** Random, and never changed. Data folders of hosts contain it too. */
  identity: string
  /** Derived from the current master key. Null until a first start with a key. */
  key_mark: string | null
  created_at: number
  /** Milliseconds UTC. Null for never. */
  records_backed_up_at: Generated<number | null>
  /** The time since when the records cannot be backed up, in milliseconds UTC. Null if they can. */
  records_failing_since: Generated<number | null>
}
