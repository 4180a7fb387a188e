import { declareActions } from '../action.ts'
import { declareEvents } from '../webhooks/event.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'domain.primary': 'The primary domain of a site was changed',
  'domain.checked': 'A look at a domain was ordered',
  'domain.unhealthy': 'A domain does not lead to its site, not yet or not any more',
  'domain.healthy': 'A domain leads to its site, as it did not before',
})

/** What webhooks tell of them. */
export const events = declareEvents('primary_domain_set')
