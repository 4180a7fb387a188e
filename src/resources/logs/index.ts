import { resource } from '../kit/resource.ts'
import { dropOldLogs, dropOldLogsHourly } from './drop-old-logs.job.ts'

export const logs = resource({
  tag: { name: 'Logs', description: 'Web server and PHP logs of a site' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [dropOldLogs] },
  schedules: [dropOldLogsHourly],
})
