import { mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup } from 'node:sqlite'
import { sql } from 'kysely'
import { OperatorError } from '../operator-error.ts'
import { type Database, openDatabase } from './database.ts'
import { type Migrations, migrate, migrateIn } from './migrate.ts'
import { openSqlite } from './node-sqlite.ts'

/** A migration that a database lacks, and how long it takes there. */
export interface MeasuredMigration {
  readonly name: string
  readonly ms: number
}

/** PostgreSQL's code for a lock that others held for too long. */
const LOCK_NOT_AVAILABLE = '55P03'
/** A migrated copy, with its log, has at most the size of this many copies. */
const COPIES = 3

/**
 * Applies the outstanding migrations, and keeps nothing of it. With PostgreSQL, they run in a transaction that is rolled
 * back: others wait for the tables meanwhile. With SQLite, they run on a copy in the same folder, and nobody waits.
 * @param file the file of SQLite
 * @throws OperatorError when the copy does not fit on the disk, or the tables are in use
 */
export async function measureMigrations(
  database: Database,
  file: string,
  migrations: Migrations,
): Promise<MeasuredMigration[]> {
  const measured: MeasuredMigration[] = []
  const timed = Object.fromEntries(
    Object.entries(migrations).map(([name, migration]) => [
      name,
      {
        ...migration,
        async up(db: Parameters<typeof migration.up>[0]) {
          const startedAt = performance.now()
          await migration.up(db)
          measured.push({ name, ms: performance.now() - startedAt })
        },
      },
    ]),
  )
  if (database.dialect === 'postgres') await inRolledBackTransaction(database, timed)
  else await onCopy(file, timed)
  return measured
}

class RolledBack extends Error {}

async function inRolledBackTransaction(database: Database, migrations: Migrations): Promise<void> {
  try {
    await database.transaction(async (tx) => {
      // A running Stead must not wait behind this transaction for a lock that it waits for itself.
      await sql`set local lock_timeout = '2s'`.execute(tx)
      await migrateIn(tx, migrations)
      throw new RolledBack()
    })
  } catch (error) {
    if (error instanceof RolledBack) return
    if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw error
    throw new OperatorError('The tables are in use, so the duration was not measured. Run the command again.', {
      cause: error,
      exitCode: 1,
    })
  }
}

async function onCopy(file: string, migrations: Migrations): Promise<void> {
  const { size } = await stat(file)
  const { bavail, bsize } = await statfs(dirname(file))
  if (bavail * bsize < size * COPIES)
    throw new OperatorError(`A copy of ${file} does not fit on its disk, so the duration was not measured. Free space.`)
  const folder = await mkdtemp(join(dirname(file), 'upgrade-check-'))
  try {
    const copy = join(folder, 'stead.db')
    const source = openSqlite({ file, readOnly: true })
    try {
      await backup(source, copy)
    } finally {
      source.close()
    }
    const database = await openDatabase({ file: copy })
    try {
      await migrate(database, migrations)
    } finally {
      await database.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
