import { resource } from '../resource.ts'
import { actions } from './actions.ts'
import { backUpRecordsHourly, backUpRecordsJob } from './back-up-records.job.ts'
import { bringBackSite } from './bring-back-site.job.ts'

/** How Stead itself is, its backups, and what follows when they are restored. */
export const installation = resource({
  tag: { name: 'Installation', description: 'Health of the installation, for its operator' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [backUpRecordsJob], host: [bringBackSite] },
  schedules: [backUpRecordsHourly],
  actions,
})
