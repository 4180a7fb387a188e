import { resource } from '../kit/resource.ts'
import { actions } from './actions.ts'
import { deleteStatisticsOf, deleteStatisticsOfAccount } from './forget.store.ts'
import { measureSite, measureSites } from './measure-sites.job.ts'
import {
  refreshOpenStatistics,
  refreshOpenStatisticsOften,
  refreshStatistics,
  refreshStatisticsDaily,
} from './refresh-statistics.job.ts'

export const statistics = resource({
  tag: { name: 'Statistics', description: 'Page views and disk usage of a site' },
  endpoints: () => import('./endpoints.ts'),
  actions,
  siteHooks: { forgotten: (tx, siteId) => deleteStatisticsOf(tx, [siteId]) },
  accountHooks: { forgotten: (tx, { accountId }) => deleteStatisticsOfAccount(tx, accountId) },
  jobs: { host: [measureSites, measureSite], control: [refreshStatistics, refreshOpenStatistics] },
  schedules: [refreshStatisticsDaily, refreshOpenStatisticsOften],
})
