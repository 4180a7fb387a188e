import type { ProcessContext } from '../process-context.ts'

/**
 * Follows whether any site is live. Before that nobody visits: PHP has nobody to give way to, and the operator waits for it.
 * @returns what is known now
 */
export async function followFirstSite({ database }: Pick<ProcessContext, 'database'>): Promise<() => boolean> {
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
        // a later change tells
        () => {},
      )
    })
  }
  return () => isLive
}
