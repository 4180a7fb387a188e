import { forgetKeysHourly } from './platform/http/idempotency/forget-keys.job.ts'
import { forgetMailsHourly } from './platform/mail/forget-mail-counts.job.ts'
import { forgetNightly } from './platform/operations/forget.ts'
import type { Schedule } from './platform/operations/schedule.ts'
import { resources } from './resources/index.ts'

/** All recurring work. */
export const schedules: readonly Schedule[] = [
  ...resources.flatMap((each) => each.schedules ?? []),
  forgetKeysHourly,
  forgetMailsHourly,
  forgetNightly,
]
