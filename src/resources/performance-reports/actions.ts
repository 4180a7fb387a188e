import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'performance_report.ordered': 'A performance report was requested',
  'performance_report.screenshot': 'A performance report was created',
})

/** What webhooks tell of them. */
export const events = declareEvents('performance_report_created')
