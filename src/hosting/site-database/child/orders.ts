import type { AddressChange, ForeignDump } from '../database-content.ts'
import type { FoundInDump } from '../sql/dump-facts.ts'

/** The order to a contained child, as its only argument. */
export type ChildOrder = DumpOrder | LoadOrder | RecoverOrder

interface Order {
  /** The user that it becomes before it opens any of the site's files. */
  readonly uid: number | null
}

/** Writes MySQL text to its output. */
export interface DumpOrder extends Order {
  readonly kind: 'dump'
  /** The folder with `site.sqlite`. The child may change the file, because SQLite may need to roll back a journal. */
  readonly folder: string
  readonly tables: readonly string[] | null
}

/** Plays back a journal. */
export interface RecoverOrder extends Order {
  readonly kind: 'recover'
  /** The folder with `site.sqlite`. */
  readonly folder: string
}

/** Reads MySQL text from its input, and reports the result at the end as a line of JSON, {@link LoadResult}. */
export interface LoadOrder extends Order {
  readonly kind: 'load'
  /** The folder in which `next.sqlite` is created, or extended. */
  readonly folder: string
  readonly tables: readonly string[] | null
  readonly changes: readonly AddressChange[]
  /** Options for a dump that another program may have written, or null for one of Stead's. */
  readonly foreign: ForeignDump | null
  /** The size limit of the database. */
  readonly mostBytes: number
}

export type LoadResult =
  | { readonly tables: number; readonly rows: number; readonly warning?: string; readonly found?: FoundInDump }
  /** The reason, when the dump is at fault. */
  | { readonly unreadable: string }
