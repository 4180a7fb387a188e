import { declareActions } from '../action.ts'
import { declareAccountEvents, declareEvents } from '../webhooks/event.ts'

const ofSite = declareActions('site', {
  'domain.primary': 'The primary domain of a site was changed',
  'domain.checked': 'A look at a domain was ordered',
  'domain.unhealthy': 'A domain does not lead to its site, not yet or not any more',
  'domain.healthy': 'A domain leads to its site, as it did not before',
  'domain.claimed': 'A domain of another account was claimed for a site',
  'domain.claim_ended': 'The claim of a domain ended: the domain moved, or stays where it is',
})

const ofAccount = declareActions('account', {
  'zone.claimed': 'Another account claims a domain of this account',
  'zone.claim_ended': 'The claim of another account ended: the domain moved, or stays where it is',
})

/** What the activity log says of changes that this resource makes. */
export const actions = { ...ofSite, ...ofAccount }

/** What webhooks tell of them. */
export const events = {
  ...declareEvents('primary_domain_set'),
  ...declareAccountEvents('domain_claimed', 'domain_claim_ended'),
}
