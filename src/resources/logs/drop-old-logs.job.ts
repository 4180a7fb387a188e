import Type from 'typebox'
import { durableWith } from '../../platform/operations/definition.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import type { ControlServices } from '../kit/control-services.ts'

/** Drops the expired days of the web server and PHP logs, and prepares the tables of the next days. */
export const dropOldLogs = durableWith<Pick<ControlServices, 'logs'>>()({
  name: 'logs.drop',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    days: {
      async run({ services, now }) {
        await services.logs.maintain(now())
      },
    },
  },
})

/** Hourly. An entry stays on the disk for 7 to 8 days, and is shown for 7. */
export const dropOldLogsHourly = schedule({
  name: 'logs.drop',
  everyMs: 3600_000,
  definition: dropOldLogs,
  input: () => ({}),
})
