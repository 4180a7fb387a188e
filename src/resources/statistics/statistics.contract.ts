import { expect } from 'vitest'
import type { Contract, JobSample, JobWorld } from '../../../test/support/contract.ts'
import { aboutSite, change } from '../../../test/support/job-worlds.ts'
import { at, onSite, type Sample } from '../../../test/support/samples.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { changeSite } from '../sites/site.store.ts'

const usage = ({ api, site }: JobWorld) =>
  api.database.read
    .selectFrom('site_statistics')
    .select('database_bytes')
    .where('site_id', '=', site)
    .executeTakeFirst()

const countViews = (world: JobWorld) =>
  change(world, (tx) =>
    tx
      .insertInto('page_view_days')
      .values({ site_id: world.site, day: dayOf(Date.now()), views: 11, people: 7 })
      .execute(),
  )

const viewsOf = async ({ api, site }: JobWorld) => {
  const stored = api.database.read.selectFrom('site_statistics').select('page_views').where('site_id', '=', site)
  return (await stored.executeTakeFirst())?.page_views ?? ''
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getSiteStatistics', path: onSite('/statistics'), roles: [] },
  { endpoint: 'listDailyStatistics', path: onSite('/statistics/days'), roles: [] },
  { endpoint: 'listSiteFigures', path: at('/v1/sites/statistics'), body: ({ site }) => ({ site_ids: [site] }) },
]

const jobs: Record<string, JobSample> = {
  'statistics.measure_site': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      return aboutSite(world)
    },
    async done(world) {
      expect((await usage(world))?.database_bytes).toBeGreaterThan(1000)
    },
  },

  'statistics.measure': {
    async prepare(world) {
      await world.host.giveDirectory(world.site)
      await change(world, (tx) => changeSite(tx, world.site, { writtenAddress: 'old.example.com' }, 1))
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect((await usage(world))?.database_bytes).toBeGreaterThan(1000)
    },
  },

  'statistics.refresh': {
    async prepare(world) {
      await countViews(world)
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await viewsOf(world)).toContain('11')
      const measures = world.api.database.read.selectFrom('operations').select('id')
      expect(
        await measures.where('type', '=', 'statistics.measure').where('state', '=', 'queued').execute(),
      ).toHaveLength(1)
    },
  },

  'statistics.refresh_open': {
    async prepare(world) {
      await countViews(world)
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await viewsOf(world)).toContain('11')
    },
  },
}

export const contract: Contract = { samples, jobs }
