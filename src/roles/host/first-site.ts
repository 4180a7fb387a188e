import type { ProcessContext } from '../process-context.ts'

/**
 * Tracks whether any site is live. Before that, PHP need not yield to visitors, and the operator waits for the first
 * site.
 * @returns the current state
 */
export async function followFirstSite({
  database,
  untilBack,
}: Pick<ProcessContext, 'database' | 'untilBack'>): Promise<() => boolean> {
  // A host starts without the database only if it has sites.
  if (untilBack) return () => true
  const find = () =>
    database.read.selectFrom('sites').select('id').where('state', '=', 'live').limit(1).executeTakeFirst()
  let isLive = (await find()) !== undefined
  if (!isLive) {
    const end = database.changes.subscribe('routes', () => {
      find().then(
        (found) => {
          if (!found) return
          isLive = true
          end()
        },
        // A later change triggers another check.
        () => {},
      )
    })
  }
  return () => isLive
}
