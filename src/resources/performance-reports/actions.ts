import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'performance_report.ordered': 'A performance report was requested',
  'performance_report.screenshot': 'A performance report was created',
})

/** Webhook events for these changes. */
export const events = declareEvents('performance_report_created')
