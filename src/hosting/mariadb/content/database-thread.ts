import { extname, join } from 'node:path'
import { OrderedThread } from '../../../platform/threads/ordered-thread.ts'
import {
  type AddressChange,
  type DumpOptions,
  DumpUnreadable,
  type ForeignDump,
} from '../../site-database/database-content.ts'
import type { DatabaseChange, DatabaseSums } from '../../site-database/database-sums.ts'
import { SiteUnavailable } from '../../site-database/site-database.ts'
import { DiskFull } from '../../site-directories/disk-space.ts'
import type { Login, ServerAddress } from '../server/connect.ts'
import type { ServerRoom } from '../server/server-room.ts'

/** Orders for a thread with a connection to a site's database. */
export type DatabaseOrder =
  | { readonly do: 'open'; readonly address: ServerAddress; readonly login: Login }
  | { readonly do: 'close' }
  /** Begins a transaction that sees the database as it is now. Returns a {@link Begun}. */
  | { readonly do: 'begin'; readonly database: string }
  /** Streams the dump of that transaction. */
  | { readonly do: 'dump'; readonly tables?: readonly string[]; readonly parts?: DumpOptions['parts'] }
  /** Sums up that transaction. Returns null when the server cannot. */
  | { readonly do: 'sums'; readonly like?: DatabaseSums }
  /** Sums up a whole database. Returns null when the server cannot. */
  | { readonly do: 'totals'; readonly database: string }
  /** Replaces what has changed in a database. */
  | { readonly do: 'level'; readonly database: string; readonly room: ServerRoom; readonly change: DatabaseChange }
  | { readonly do: 'copyTables'; readonly from: string; readonly to: string }
  | {
      readonly do: 'load'
      readonly database: string
      readonly room: ServerRoom
      readonly tables?: readonly string[]
      readonly changes?: readonly AddressChange[]
      readonly foreign?: ForeignDump
    }
  /** Loads a dump, and returns a description of the differences. */
  | { readonly do: 'tryOut'; readonly database: string; readonly room: ServerRoom }

export type OrderOf<Kind extends DatabaseOrder['do']> = Extract<DatabaseOrder, { readonly do: Kind }>

export interface Begun {
  readonly tables: number
  /** Describes what the dump lacks. */
  readonly warning?: string
}

export type DatabaseThread = OrderedThread<DatabaseOrder>

/** `.ts` when Stead runs from source, `.js` when it was built. */
const program = join(import.meta.dirname, `content-thread${extname(import.meta.filename)}`)

/** A statement with the largest value exists several times in memory: its values, its rows, and the whole text. */
const MOST_MB = 1024

/**
 * Opens a connection to a site's database in a separate thread. A value may have 64 MB. Escaping, comparing, and
 * sending it takes seconds that would block the process.
 * @param signal ends the thread and its work
 */
export async function openDatabaseThread(
  { address }: { readonly address: ServerAddress },
  login: Login,
  signal?: AbortSignal,
): Promise<DatabaseThread> {
  signal?.throwIfAborted()
  const thread = new OrderedThread<DatabaseOrder>({
    program,
    mostMb: MOST_MB,
    errors: [DumpUnreadable, DiskFull, SiteUnavailable],
  })
  signal?.addEventListener('abort', () => thread.end(signal.reason), { once: true })
  try {
    await thread.do({ do: 'open', address, login })
    return thread
  } catch (error) {
    thread.end()
    throw error
  }
}

/** Closes the connection and keeps the thread for others. Idempotent. */
export async function closeDatabaseThread(thread: DatabaseThread): Promise<void> {
  if (thread.isEnded) return
  try {
    await thread.do({ do: 'close' })
    await thread.rest()
  } catch {
    thread.end()
  }
}
