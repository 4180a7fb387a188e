import { setImmediate as breathe } from 'node:timers/promises'
import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedules.ts'
import { measureSites } from './measure-sites.job.ts'
import { forgetVisitors, hostIds, nextIds, storedSums, storeSums, sumAccounts, sumSites } from './statistics.store.ts'
import { readSums, type Sums, windowsAt } from './windows.ts'

/** A batch reads up to some hundred days of each, on the loop that answers requests. */
const IDS = 20

/** Visitors are deleted by so many: the delete of one is a step down an index. */
const VISITORS = 5000

/** Sums page views up for sites and accounts, as of now. */
export async function refreshPageViews(database: Database, now: number, signal?: AbortSignal): Promise<void> {
  const windows = windowsAt(now)
  for (const kind of ['site', 'account'] as const)
    for (let after = 0; ; ) {
      signal?.throwIfAborted()
      // SQLite's answers come without a turn of the event loop
      await breathe()
      const ids = await nextIds(database.read, kind, after, IDS)
      if (ids.length === 0) break
      const { read } = database
      const found = kind === 'site' ? await sumSites(read, ids, windows) : await sumAccounts(read, ids)
      const before = await storedSums(read, kind, ids)
      // a site that lost its last views (an account that lost its sites) has zeros from now on
      const sums = new Map<number, Sums>(ids.map((id) => [id, found.get(id) ?? readSums(undefined)]))
      const changed = new Map([...sums].filter(([id, each]) => before.get(id) !== JSON.stringify(each)))
      if (changed.size > 0) await database.transaction((tx) => storeSums(tx, kind, changed, now))
      after = ids.at(-1) as number
    }
}

/** What is shown of page views and storage, once a day. */
export const refreshStatistics = durableWith<{ readonly database: Database }>()({
  name: 'statistics.refresh',
  input: Type.Object({}),
  on: 'control',
  steps: {
    pageViews: {
      async run({ services, now, signal }) {
        await refreshPageViews(services.database, now(), signal)
      },
    },
    visitors: {
      run(context) {
        // an edge may still have some of yesterday
        const day = dayOf(context.now()) - 1
        return inBatches(context, (tx) => forgetVisitors(tx, day, VISITORS))
      },
    },
    storage: {
      async commit(tx) {
        for (const hostId of await hostIds(tx)) await enqueue(tx, measureSites, {}, { hostId })
      },
    },
  },
})

/** Shortly after the day has ended, when the edges have stored what they counted in it. */
export const refreshStatisticsDaily = schedule({
  name: 'statistics.refresh',
  at: '00:05',
  definition: refreshStatistics,
  input: () => ({}),
})
