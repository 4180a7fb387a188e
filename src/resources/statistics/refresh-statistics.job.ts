import { setImmediate as breathe } from 'node:timers/promises'
import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Database } from '../../platform/db/database.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { foldOldDays, forgetDeletedSites, forgetVisitors } from './forget.store.ts'
import { measureSites } from './measure-sites.job.ts'
import { hostIds, nextIds, sitesVisitedOn, storedSums, storeSums, sumAccounts, sumSites } from './statistics.store.ts'
import { addToday, readSums, type Sums, windowsAt } from './windows.ts'

/** Sites in a batch. It reads up to a few hundred days of each, on the event loop that answers requests. */
const IDS = 20

/** Sites whose new views are added in one batch. */
const VISITED = 500

/** Visitors that one statement deletes: each takes one descent of an index. */
const VISITORS = 5000

/** Rows of page views that are merged in one transaction. */
const DAYS = 500
/** A margin, so that a wrong clock or a disconnected edge loses no day. */
const SPARE_DAYS = 31

/** Sums up page views for sites and accounts at this time. */
export async function refreshPageViews(database: Database, now: number, signal?: AbortSignal): Promise<void> {
  const windows = windowsAt(now)
  for (const kind of ['site', 'account'] as const)
    for (let after = 0; ; ) {
      signal?.throwIfAborted()
      // SQLite answers without yielding to the event loop.
      await breathe()
      const ids = await nextIds(database.read, kind, after, IDS)
      if (ids.length === 0) break
      const { read } = database
      const found = kind === 'site' ? await sumSites(read, ids, windows) : await sumAccounts(read, ids)
      const before = await storedSums(read, kind, ids)
      // A site without remaining views, or an account without sites, now has zeros.
      const sums = new Map<number, Sums>(ids.map((id) => [id, found.get(id) ?? readSums(undefined)]))
      const changed = new Map([...sums].filter(([id, each]) => before.get(id) !== JSON.stringify(each)))
      if (changed.size > 0) await database.transaction((tx) => storeSums(tx, kind, changed, now))
      after = ids.at(-1) as number
    }
}

/**
 * Updates the open windows (today, this month, …) of sites with new visits. Views since the last refresh are added to
 * the stored sums. A site whose sums are from an earlier day is summed up again.
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

/** Refreshes open windows every five minutes. */
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

/** Refreshes page views and storage once a day. */
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
        // An edge may still have views from yesterday.
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
        // Each host has its own time of the night, the same every night.
        const night = now()
        for (const hostId of await hostIds(tx))
          await enqueue(tx, measureSites, {}, { hostId, runAt: night + ((hostId * 37) % 240) * 60_000 })
      },
    },
  },
})

/** Runs shortly after the end of the day, when the edges have stored its counts. */
export const refreshStatisticsDaily = schedule({
  name: 'statistics.refresh',
  at: '00:05',
  definition: refreshStatistics,
  input: () => ({}),
})
