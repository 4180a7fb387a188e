import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Tx } from '../../src/platform/db/database.ts'
import { nodeSqliteDialect } from '../../src/platform/db/node-sqlite.ts'
import type { Schema } from '../../src/platform/db/schema.ts'
import type { TestDatabase } from './database.ts'

/** A statement that was run, and the database's plan for it. */
export interface Plan {
  readonly sql: string
  readonly plan: string
}

/** Runs work that reads, and returns the plan of each of its statements. */
export async function plansOf(
  made: Pick<TestDatabase, 'connection'>,
  work: (tx: Tx) => Promise<unknown>,
): Promise<Plan[]> {
  const queries: { sql: string; parameters: readonly unknown[] }[] = []
  const { url, file } = made.connection
  // databases rightly scan a table of a few pages, or one that is read as a whole. Scans are forbidden here, so that a
  // plan that still has one shows a query that no index can answer
  const pool = url ? new pg.Pool({ connectionString: url, max: 1, options: '-c enable_seqscan=off' }) : undefined
  const db = new Kysely<Schema>({
    dialect: pool ? new PostgresDialect({ pool }) : nodeSqliteDialect({ file, readOnly: true }),
    log({ query }) {
      queries.push({ sql: query.sql, parameters: query.parameters })
    },
  })
  try {
    await work(db)
    const plans: Plan[] = []
    for (const { sql, parameters } of queries.splice(0)) {
      const explain = `${pool ? 'explain' : 'explain query plan'} ${sql}`
      const { rows } = await db.executeQuery<Record<string, unknown>>(CompiledQuery.raw(explain, [...parameters]))
      plans.push({ sql, plan: rows.map((row) => String(row.detail ?? row['QUERY PLAN'])).join('\n') })
    }
    return plans
  } finally {
    await db.destroy()
  }
}

/**
 * Returns the lines of a plan that read a whole table (not a list of given IDs), and on SQLite those that sort what an
 * index could return in order.
 */
export function wholeTableReads({ plan }: Plan): string[] {
  return plan
    .split('\n')
    .filter((line) => /^SCAN (?!json_each |.*USING (COVERING )?INDEX)|Seq Scan|USE TEMP B-TREE FOR ORDER BY/.test(line))
}
