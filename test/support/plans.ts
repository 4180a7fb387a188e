import { CompiledQuery, Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Tx } from '../../src/platform/db/database.ts'
import { nodeSqliteDialect } from '../../src/platform/db/node-sqlite.ts'
import type { Schema } from '../../src/platform/db/schema.ts'
import type { TestDatabase } from './database.ts'

/** A statement that was run, and how the database means to answer it. */
export interface Plan {
  readonly sql: string
  readonly plan: string
}

/** Runs reading work and asks the database for the plan of each of its statements. */
export async function plansOf(
  made: Pick<TestDatabase, 'connection'>,
  work: (tx: Tx) => Promise<unknown>,
): Promise<Plan[]> {
  const queries: { sql: string; parameters: readonly unknown[] }[] = []
  const { url, file } = made.connection
  // a table that fits into a few pages, or is asked for as a whole, is read whole by right: forbidden here, so that a plan
  // that still does it shows a query that no index can answer
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

/** Lines of a plan that read a whole table (a list of given ids is none); on SQLite also those that sort what an index could have given in order. */
export function wholeTableReads({ plan }: Plan): string[] {
  return plan
    .split('\n')
    .filter((line) => /^SCAN (?!json_each |.*USING (COVERING )?INDEX)|Seq Scan|USE TEMP B-TREE FOR ORDER BY/.test(line))
}
