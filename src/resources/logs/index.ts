import { resource } from '../resource.ts'
import { dropOldLogs, dropOldLogsHourly } from './drop-old-logs.job.ts'

export const logs = resource({
  tag: { name: 'Logs', description: 'What visitors asked for, and what PHP complained of' },
  operations: () => import('./operations.ts'),
  jobs: { control: [dropOldLogs] },
  schedules: [dropOldLogsHourly],
})
