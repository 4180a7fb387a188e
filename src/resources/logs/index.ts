import { resource } from '../resource.ts'
import { dropOldLogs, dropOldLogsHourly } from './drop-old-logs.job.ts'

export const logs = resource({
  tag: { name: 'Logs', description: 'What visitors asked for, and what PHP complained of' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { control: [dropOldLogs] },
  schedules: [dropOldLogsHourly],
})
