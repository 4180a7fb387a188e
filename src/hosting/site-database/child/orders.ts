import type { AddressChange, ForeignDump } from '../database-content.ts'
import type { FoundInDump } from '../sql/look-into-dump.ts'

/** What a contained child is to do, as its only argument. */
export type ChildOrder = DumpOrder | LoadOrder | RecoverOrder

interface Order {
  /** Whom it becomes before it opens anything of the site's. */
  readonly uid: number | null
}

/** Writes MySQL text to its output. */
export interface DumpOrder extends Order {
  readonly kind: 'dump'
  /** Folder with `site.sqlite`, which is the child's own to change (a journal is played back). */
  readonly folder: string
  readonly tables: readonly string[] | null
}

/** Plays back a journal. */
export interface RecoverOrder extends Order {
  readonly kind: 'recover'
  /** Folder with `site.sqlite`. */
  readonly folder: string
}

/** Reads MySQL text from its input, and says at its end what came of it: a line of JSON, {@link LoadResult}. */
export interface LoadOrder extends Order {
  readonly kind: 'load'
  /** Folder in which `next.sqlite` is made, or is added to. */
  readonly folder: string
  readonly tables: readonly string[] | null
  readonly changes: readonly AddressChange[]
  /** Of a dump that another program may have written; null: it is one of Stead's. */
  readonly foreign: ForeignDump | null
  /** The database may become no larger. */
  readonly mostBytes: number
}

export type LoadResult =
  | { readonly tables: number; readonly rows: number; readonly warning?: string; readonly found?: FoundInDump }
  /** The dump is to blame. */
  | { readonly unreadable: string }
