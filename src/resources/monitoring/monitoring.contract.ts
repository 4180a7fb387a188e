import { expect } from 'vitest'
import type { Contract, JobSample } from '../../../test/support/contract.ts'
import { change, daysAgo, forgets, rows } from '../../../test/support/job-worlds.ts'
import { at, onSite, type Sample } from '../../../test/support/samples.ts'
import { reportMonitor, storeStates } from '../../edge/monitor/monitor.store.ts'
import { openIncident } from './monitoring.store.ts'

const samples: readonly Sample[] = [
  { endpoint: 'listMonitoredSites', path: at('/v1/monitoring') },
  { endpoint: 'getSiteUptime', path: onSite('/uptime'), roles: [] },
  { endpoint: 'listSiteIncidents', path: onSite('/incidents'), roles: [] },
]

const seenIn = 'src/resources/monitoring/monitoring.test.ts'
const causes: Contract['causes'] = {
  site_down: { cause: 'monitoring.judge', seenIn },
  site_up: { cause: 'monitoring.judge', seenIn },
}

const jobs: Record<string, JobSample> = {
  'monitoring.judge': {
    async prepare(world) {
      await change(world, async (tx) => {
        await reportMonitor(tx, 'edge', Date.now())
        const found = { state: 'down', reason: 'php', detail: 'The front page answers 500' } as const
        await storeStates(tx, [{ site_id: world.site, edge: 'edge', host_name: 'a.test', ...found, since: 5 }])
      })
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      expect(await rows(world, 'events', 'type', 'site_down', world.site)).toBe(1)
    },
  },
  'monitoring.forget': forgets(
    daysAgo(80),
    async (world, ended) => {
      const incident = { site_id: world.site, reason: 'php', detail: '', began_at: ended } as const
      await change(world, async (tx) => {
        const id = await openIncident(tx, incident)
        await tx.updateTable('site_incidents').set({ ended_at: ended }).where('id', '=', id).execute()
        const day = Math.floor(ended / 86_400_000)
        await tx.insertInto('uptime_days').values({ site_id: world.site, day, asked: 1, slow: 0, failed: 0 }).execute()
      })
    },
    async ({ api, site }) => {
      const incidents = api.database.read
        .selectFrom('site_incidents')
        .select('ended_at as at')
        .where('site_id', '=', site)
      const days = await api.database.read.selectFrom('uptime_days').select('day').where('site_id', '=', site).execute()
      const found = await incidents.execute()
      expect(days).toHaveLength(found.length)
      return found.map(({ at: ended }) => ({ at: ended as number }))
    },
  ),
}

export const contract: Contract = { samples, causes, jobs }
