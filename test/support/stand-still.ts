import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { until } from './stead.ts'

/**
 * Stops a process with SIGSTOP while it is in no transaction. A process that is suspended inside one keeps its locks:
 * whatever the test changes next would wait for them, and fail with "database is locked".
 * @param connection the database that it uses. On PostgreSQL no other process may be in a transaction for long.
 */
export async function standStill(pid: number, connection: { url?: string; file: string }): Promise<void> {
  const isInTransaction = connection.url ? inPostgres(connection.url) : inSqlite(connection.file)
  await until('it is in no transaction', async () => {
    process.kill(pid, 'SIGSTOP')
    await until('it stands still', () => stateOf(pid) === 'T')
    if (!(await isInTransaction())) return true
    process.kill(pid, 'SIGCONT')
    return false
  })
}

/** The state in proc(5). The name before it may contain anything. */
const stateOf = (pid: number): string | undefined => readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.[0]

const inSqlite = (file: string) => async (): Promise<boolean> => {
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma busy_timeout = 0; begin immediate; rollback')
    return false
  } catch {
    return true
  } finally {
    database.close()
  }
}

const inPostgres = (url: string) => async (): Promise<boolean> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and xact_start is not null`,
    )
    return rows.length > 0
  } finally {
    await client.end()
  }
}
