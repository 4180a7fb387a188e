import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'client_report.recipients': 'The recipients of client reports were changed',
  'client_report.sent': 'A client report was sent by mail',
  'client_report.not_sent': 'A client report could not be sent by mail',
})

/** Webhook events for these changes. */
export const events = declareEvents('client_report_sent')
