import { declareActions } from '../kit/action.ts'
import { declareAccountEvents, declareEvents } from '../webhooks/public.ts'

const ofSite = declareActions('site', {
  'domain.primary': 'The primary domain of a site was changed',
  'domain.checked': 'A check of a domain was requested',
  'domain.unhealthy': 'A domain does not point to its site',
  'domain.healthy': 'A domain now points to its site',
  'domain.claimed': 'A domain of another account was claimed for a site',
  'domain.claim_ended': 'The claim of a domain ended, and the domain moved or stayed',
})

const ofAccount = declareActions('account', {
  'zone.claimed': 'Another account claims a domain of this account',
  'zone.claim_ended': 'The claim of another account ended, and the domain moved or stayed',
})

/** Activity log entries for the changes that this resource makes. */
export const actions = { ...ofSite, ...ofAccount }

/** Webhook events for these changes. */
export const events = {
  ...declareEvents('primary_domain_set'),
  ...declareAccountEvents('domain_claimed', 'domain_claim_ended'),
}
