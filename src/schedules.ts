import { forgetKeysHourly } from './platform/http/forget-keys.job.ts'
import { forgetMailsHourly } from './platform/mail/forget-mail-counts.job.ts'
import { forgetNightly } from './platform/operations/forget.ts'
import type { Schedule } from './platform/operations/schedules.ts'
import { forgetActivityHourly } from './resources/activity/forget-activity.job.ts'
import { forgetTokensHourly } from './resources/authentication/forget-tokens.job.ts'
import { dropOldLogsHourly } from './resources/logs/drop-old-logs.job.ts'
import { refreshOpenStatisticsOften, refreshStatisticsDaily } from './resources/statistics/refresh-statistics.job.ts'
import { forgetEventsHourly } from './resources/webhooks/forget-events.job.ts'

/** All recurring work. */
export const schedules: readonly Schedule[] = [
  forgetTokensHourly,
  forgetKeysHourly,
  forgetActivityHourly,
  forgetMailsHourly,
  forgetEventsHourly,
  forgetNightly,
  dropOldLogsHourly,
  refreshStatisticsDaily,
  refreshOpenStatisticsOften,
]
