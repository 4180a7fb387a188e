import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { batches } from '../../platform/batches.ts'
import { type Database, isPostgres, type Tx } from '../../platform/db/database.ts'

/** The counts of one edge process for a site since it last stored them. */
export interface CountedViews {
  readonly siteId: number
  readonly day: number
  readonly views: number
  /** Salted hashes. */
  readonly visitors: readonly string[]
}

/** Rows in a statement: SQLite takes 32,766 parameters, and compiling a longer statement costs more than it saves. */
const ROWS = 500

/** Returns the salt of a day. The first process that asks creates it, and all get the same. */
export async function saltOfDay(database: Database, day: number): Promise<string> {
  const known = await readSalt(database.read, day)
  if (known) return known
  return database.transaction(async (tx) => {
    const salt = randomBytes(32).toString('base64url')
    await tx
      .insertInto('visitor_days')
      .values({ day, salt })
      .onConflict((conflict) => conflict.column('day').doNothing())
      .execute()
    return (await readSalt(tx, day)) as string
  })
}

async function readSalt(tx: Tx, day: number): Promise<string | undefined> {
  const row = await tx.selectFrom('visitor_days').select('salt').where('day', '=', day).executeTakeFirst()
  return row?.salt
}

/**
 * Adds the counts. A visitor whom another process has stored before is not new: the row that says so is in the same
 * transaction as the number.
 */
export async function storeViews(tx: Tx, counted: readonly CountedViews[]): Promise<void> {
  // In one order everywhere, so that two processes never wait for each other.
  const sites = counted.toSorted((a, b) => a.day - b.day || a.siteId - b.siteId)
  // The commit does not wait for the disk: a power failure loses a second of counts.
  if (isPostgres(tx)) await sql`set local synchronous_commit = off`.execute(tx)
  const rows = sites.flatMap(({ day, siteId, visitors }) =>
    visitors.toSorted().map((visitor) => ({ day, site_id: siteId, visitor })),
  )
  const people = new Map<string, number>()
  for (const some of batches(rows, ROWS)) {
    const added = await tx
      .insertInto('visitors')
      .values(some)
      .onConflict((conflict) => conflict.doNothing())
      .returning(['day', 'site_id'])
      .execute()
    for (const { day, site_id } of added) people.set(`${day} ${site_id}`, (people.get(`${day} ${site_id}`) ?? 0) + 1)
  }
  for (const some of batches(sites, ROWS))
    await tx
      .insertInto('page_view_days')
      .values(
        some.map(({ siteId, day, views }) => ({
          site_id: siteId,
          day,
          views,
          people: people.get(`${day} ${siteId}`) ?? 0,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['site_id', 'day']).doUpdateSet({
          views: sql`page_view_days.views + excluded.views`,
          people: sql`page_view_days.people + excluded.people`,
        }),
      )
      .execute()
}
