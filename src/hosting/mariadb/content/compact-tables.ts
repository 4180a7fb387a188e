import { named, rowsOf } from '../server/connect.ts'
import { asAdministrator } from '../server/database-server.ts'
import type { SiteDatabases } from '../site-databases.ts'

/** A table keeps some free space for its next rows. */
const LEAST_FREE_BYTES = 8 << 20
const MOST_TABLES = 100

export interface Compaction {
  /** Number of the site directory. */
  readonly directory: number
  /** Compaction is worthwhile only if it frees this much. */
  readonly wantedBytes: number
  /** Whether the disk can hold a second copy of this size meanwhile. */
  readonly hasRoomFor: (bytes: number) => boolean
}

/**
 * Rebuilds the tables of a site that have the most free space inside, because deleting rows alone returns nothing to
 * the disk.
 */
export async function compactTables(databases: SiteDatabases, compaction: Compaction): Promise<void> {
  const { directory, wantedBytes, hasRoomFor } = compaction
  // Names depend only on the last part of the path.
  const place = { siteDirectory: `h${directory}` }
  const { current } = databases.namesOf(place)
  const tables = await asAdministrator(databases.server, (connection) =>
    rowsOf(
      connection,
      `SELECT TABLE_NAME, DATA_FREE, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES
       WHERE TABLE_SCHEMA = ? AND ENGINE = 'InnoDB' AND DATA_FREE >= ${LEAST_FREE_BYTES} ORDER BY DATA_FREE DESC LIMIT ${MOST_TABLES}`,
      [current],
    ),
  )
  const freeBytes = tables.reduce((sum, [, free]) => sum + Number(free), 0)
  if (tables.length === 0 || freeBytes < wantedBytes) return
  // Connects as the site's own worker, because a site's definitions must never run with access to other sites.
  const connection = await databases.server.connect(await databases.worker(place))
  try {
    for (const [table = '', , bytes] of tables)
      if (hasRoomFor(Number(bytes))) await connection.query(`ALTER TABLE ${named(current)}.${named(table)} FORCE`)
  } finally {
    connection.destroy()
  }
}
