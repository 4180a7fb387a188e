import { resource } from '../resource.ts'
import { actions } from './actions.ts'
import { backUpRecordsHourly, backUpRecordsJob } from './back-up-records.job.ts'
import { bringBackSite } from './bring-back-site.job.ts'

/** Backups of Stead itself, and what follows when they are restored. */
export const installation = resource({
  jobs: { control: [backUpRecordsJob], host: [bringBackSite] },
  schedules: [backUpRecordsHourly],
  actions,
})
