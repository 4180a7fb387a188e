import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Kysely, sql } from 'kysely'
import { migrations } from '../../../migrations/index.ts'
import { belongingOf } from '../../hosting/identity/belonging.ts'
import { strangers } from '../../hosting/identity/faults.ts'
import { folderFacts } from '../../hosting/identity/folder.ts'
import { databaseFacts } from '../../hosting/identity/identity.store.ts'
import { CommitUnknown } from '../../platform/db/commit-unknown.ts'
import { type Database, isBusy, openDatabase, type Tx, withoutTimeLimit } from '../../platform/db/database.ts'
import { appliedMigrations, knowsAll } from '../../platform/db/migrate.ts'
import { nodeSqliteDialect } from '../../platform/db/node-sqlite.ts'
import { describeDatabase, openFault } from '../../platform/db/open-fault.ts'
import { type CopiedRows, compareRows, type OnRows, RowsDiffer } from '../../platform/db/rows/copy-rows.ts'
import { databaseRows } from '../../platform/db/rows/database-rows.ts'
import { fillDatabase, NotEmpty } from '../../platform/db/rows/fill-database.ts'
import type { Schema } from '../../platform/db/schema.ts'
import { syncFolder } from '../../platform/files/write-file.ts'
import { copyLogs } from '../../platform/log-store/copy-logs.ts'
import { openLogStore } from '../../platform/log-store/open-log-store.ts'
import { CommandError } from '../output.ts'

export interface MoveOptions {
  /** The postgres:// address of an empty database. */
  readonly to: string
  /** The size limit for the logs of sites there, in MB. Undefined: they are not moved. */
  readonly logMb: number | undefined
  readonly onProgress: (doing: string) => void
}

export interface Moved extends CopiedRows {
  /** The database without its password. */
  readonly database: string
  readonly log_entries: number
  /** The new path of the old file. */
  readonly file: string
}

/**
 * Moves the control database of a data folder from its SQLite file to PostgreSQL. The file is only read until the new
 * database has all its rows. If it is interrupted before, the file is unchanged and the new database is empty. If it is
 * interrupted later, the same call finds that the new database is complete, and does the rest. The caller must make
 * sure that no Stead can start on the folder.
 * @throws OperatorError
 */
export async function moveDatabase(dataDir: string, { to, logMb, onProgress }: MoveOptions): Promise<Moved> {
  const file = join(dataDir, 'stead.db')
  const source = await openAlone(file)
  try {
    await mustBeMovable(source, dataDir)
    const copied = await inTarget(to, async (target) => copyOrCompare(source, target, onProgress))
    const logEntries = logMb === undefined ? 0 : await moveLogs(join(dataDir, 'logs'), to, { logMb, onProgress })
    const old = await setAside(source, file)
    return { database: describeDatabase({ url: to, file }), ...copied, log_entries: logEntries, file: old }
  } finally {
    await source.destroy()
  }
}

/** Opens the file exclusively, so that the copied rows stay current until the file is moved away. */
async function openAlone(file: string): Promise<Tx> {
  const source = new Kysely<Schema>({ dialect: nodeSqliteDialect({ file, readOnly: false, alone: true }) })
  try {
    await sql`select 1`.execute(source)
    return source
  } catch (error) {
    if (isBusy(error)) throw new CommandError(`Another process uses ${file}. Stop Stead and all of its commands first.`)
    throw openFault(error, { file })
  }
}

async function mustBeMovable(source: Tx, dataDir: string): Promise<void> {
  const applied = await appliedMigrations(source)
  knowsAll(migrations, applied)
  if (applied.length < Object.keys(migrations).length)
    throw new CommandError(
      'The database belongs to an older version of Stead. Start this version on it once (stead serve), stop it, then move the database.',
    )
  const [folder, facts] = [await folderFacts(dataDir), await databaseFacts({ dialect: 'sqlite', read: source })]
  const belonging = belongingOf(folder, facts)
  if (belonging.kind === 'stranger')
    throw strangers(belonging.reason, { dataDir, folder, database: join(dataDir, 'stead.db') })
}

async function inTarget<Result>(url: string, work: (target: Database) => Promise<Result>): Promise<Result> {
  let target: Database | undefined
  try {
    target = await openDatabase({ url, file: '' })
    return await work(target)
  } catch (error) {
    if (error instanceof CommitUnknown)
      throw new CommandError(
        'The connection was lost at the very end. Run the same command again to check the result.',
        {
          cause: error,
          exitCode: 1,
        },
      )
    throw openFault(error, { url, file: '' })
  } finally {
    await target?.close()
  }
}

async function copyOrCompare(source: Tx, target: Database, onProgress: MoveOptions['onProgress']): Promise<CopiedRows> {
  const rows = () => databaseRows(source)
  const told =
    (doing: string): OnRows =>
    (progress) =>
      onProgress(`${doing} ${progress.table}, ${progress.rows} rows`)
  const onCompared = told('Comparing')
  try {
    return await fillDatabase(target, rows, { migrations, onCopied: told('Copying'), onCompared })
  } catch (error) {
    if (!(error instanceof NotEmpty)) throw error
  }
  // An earlier move may have been interrupted after everything was copied.
  const isOfSame =
    (await databaseFacts(target)).installation ===
    (await databaseFacts({ dialect: 'sqlite', read: source })).installation
  if (!isOfSame)
    throw new CommandError(
      'The PostgreSQL database is not empty. Create an empty database (createdb). Nothing was changed.',
    )
  try {
    return await target.transaction(async (tx) => {
      await withoutTimeLimit(tx)
      return compareRows(rows(), databaseRows(tx), onCompared)
    })
  } catch (error) {
    if (!(error instanceof RowsDiffer)) throw error
    throw new CommandError(
      'The PostgreSQL database already contains this installation in another state: it or the file was used after the move. ' +
        `(${error.message}.) Nothing was changed. Set STEAD_DATABASE_URL to use that database, or choose an empty one.`,
      { cause: error },
    )
  }
}

async function moveLogs(
  folder: string,
  url: string,
  { logMb, onProgress }: { logMb: number; onProgress: MoveOptions['onProgress'] },
): Promise<number> {
  const store = openLogStore({ url, folder, mostBytes: logMb * 2 ** 20 })
  try {
    await store.maintain(Date.now())
    return await copyLogs(folder, store, (done) => onProgress(`Copying logs of sites, ${done} entries`))
  } finally {
    await store.close()
  }
}

/** Renames the file, after writing the content of its log into it, so that it is complete. */
async function setAside(source: Tx, file: string): Promise<string> {
  await sql`pragma wal_checkpoint(truncate)`.execute(source)
  await sql`pragma journal_mode = delete`.execute(source)
  const old = freeName(`${file}.moved`)
  await rename(file, old)
  await syncFolder(dirname(file))
  return old
}

function freeName(wanted: string): string {
  let name = wanted
  for (let number = 2; existsSync(name); number++) name = `${wanted}-${number}`
  return name
}
