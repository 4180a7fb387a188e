import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { forgetMonitoringDaily, forgetMonitoringHistory } from './forget-monitoring.job.ts'
import { judgeSites, judgeSitesOften } from './judge-sites.job.ts'
import { forgetMonitoring } from './monitoring.store.ts'

export const monitoring = resource({
  tag: { name: 'Monitoring', description: 'Whether sites are up, and when they were not' },
  endpoints: () => import('./endpoints.ts'),
  actions,
  events,
  siteHooks: { forgotten: forgetMonitoring },
  jobs: { control: [judgeSites, forgetMonitoringHistory] },
  schedules: [judgeSitesOften, forgetMonitoringDaily],
})
