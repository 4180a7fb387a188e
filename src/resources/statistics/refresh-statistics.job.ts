import { setImmediate as breathe } from 'node:timers/promises'
import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Database } from '../../platform/db/database.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedules.ts'
import { foldOldDays, forgetDeletedSites, forgetVisitors } from './forget.store.ts'
import { measureSites } from './measure-sites.job.ts'
import { hostIds, nextIds, sitesVisitedOn, storedSums, storeSums, sumAccounts, sumSites } from './statistics.store.ts'
import { addToday, readSums, type Sums, windowsAt } from './windows.ts'

/** A batch reads up to some hundred days of each, on the loop that answers requests. */
const IDS = 20

/** Sites that are looked at together for what came since. */
const VISITED = 500

/** Visitors are deleted by so many: the delete of one is a step down an index. */
const VISITORS = 5000

/** Rows of page views that are folded in one transaction. */
const DAYS = 500
/** A clock that was wrong, or an edge that was cut off, is no reason to lose a day. */
const SPARE_DAYS = 31

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

/**
 * Brings the windows that are still open (today, this month, …) up to date, for sites that were visited since: what came since the last
 * look is added to what is stored. A site whose sums are of another day is summed up anew.
 */
export async function refreshOpenWindows(database: Database, now: number, signal?: AbortSignal): Promise<void> {
  const today = dayOf(now)
  const accounts = new Set<number>()
  for (let after = 0; ; ) {
    signal?.throwIfAborted()
    await breathe()
    const visited = await sitesVisitedOn(database.read, today, after, VISITED)
    if (visited.length === 0) break
    const changed = new Map<number, Sums>()
    const others: number[] = []
    for (const site of visited) {
      if (site.refreshedAt === null || dayOf(site.refreshedAt) !== today) others.push(site.siteId)
      else {
        const before = readSums(site.stored)
        const added = [site.people - before.today[0], site.views - before.today[1]] as const
        if (added[0] === 0 && added[1] === 0) continue
        changed.set(site.siteId, addToday(before, added))
      }
      accounts.add(site.accountId)
    }
    for (let from = 0; from < others.length; from += IDS) {
      const ids = others.slice(from, from + IDS)
      for (const [id, sums] of await sumSites(database.read, ids, windowsAt(now))) changed.set(id, sums)
    }
    if (changed.size > 0) await database.transaction((tx) => storeSums(tx, 'site', changed, now))
    after = visited.at(-1)?.siteId as number
  }
  for (const ids of batchesOf([...accounts], IDS)) {
    const sums = await sumAccounts(database.read, ids)
    await database.transaction((tx) => storeSums(tx, 'account', sums, now))
  }
}

const batchesOf = (ids: readonly number[], size: number): number[][] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, n) => ids.slice(n * size, (n + 1) * size))

/** Windows that are still open, every five minutes. */
export const refreshOpenStatistics = durableWith<{ readonly database: Database }>()({
  name: 'statistics.refresh_open',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 3,
  steps: {
    pageViews: { run: ({ services, now, signal }) => refreshOpenWindows(services.database, now(), signal) },
  },
})

export const refreshOpenStatisticsOften = schedule({
  name: 'statistics.refresh_open',
  everyMs: 300_000,
  definition: refreshOpenStatistics,
  input: () => ({}),
})

/** What is shown of page views and storage, once a day. */
export const refreshStatistics = durableWith<{ readonly database: Database; readonly config: Config }>()({
  name: 'statistics.refresh',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
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
    oldDays: {
      run(context) {
        const { from } = windowsAt(context.now()).lastTwoYears
        return inBatches(context, (tx) => foldOldDays(tx, from - SPARE_DAYS, DAYS))
      },
    },
    deletedSites: {
      run(context) {
        const kept = context.services.config.trashDays + SPARE_DAYS
        const before = context.now() - kept * 86_400_000
        return inBatches(context, (tx) => forgetDeletedSites(tx, before, IDS))
      },
    },
    storage: {
      async commit(tx, { now }) {
        // each host at another time of the night, the same every night
        const night = now()
        for (const hostId of await hostIds(tx))
          await enqueue(tx, measureSites, {}, { hostId, runAt: night + ((hostId * 37) % 240) * 60_000 })
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
