import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DATABASE_NAME } from '../sqlite-place.ts'
import type { RecoverOrder } from './orders.ts'

/** The memory limit of SQLite. The largest row needs several times its size. More is an attack. */
const MOST_MEMORY_BYTES = 3 * 2 ** 30

/** Opens a database whose contents may be hostile: https://www.sqlite.org/security.html */
export function openHostile(path: string): DatabaseSync {
  const database = new DatabaseSync(path, {
    enableForeignKeyConstraints: false,
    enableDoubleQuotedStringLiterals: false,
  })
  database.exec(
    'PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = FILE',
  )
  database.exec(`PRAGMA hard_heap_limit = ${MOST_MEMORY_BYTES}`)
  return database
}

/** Plays back a journal next to the file, which the first query does. */
export function recoverDatabase({ folder }: RecoverOrder): void {
  const database = openHostile(join(folder, DATABASE_NAME))
  database.prepare('SELECT count(*) FROM sqlite_schema').get()
  database.close()
}
