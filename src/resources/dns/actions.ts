import { declareActions } from '../kit/action.ts'
import { declareEvents } from '../webhooks/public.ts'

const ofAccount = declareActions('account', {
  dns: 'DNS records of a zone were changed',
})

const ofSite = declareActions('site', {
  'domain.added': 'A domain was added to a site',
  'domain.removed': 'A domain was removed from a site',
})

/** Activity log entries for the changes that this resource makes. */
export const actions = { ...ofAccount, ...ofSite }

/** Webhook events for these changes. */
export const events = declareEvents('domain_added', 'domain_removed')
