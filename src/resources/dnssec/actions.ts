import { declareActions } from '../kit/action.ts'

/** What the activity log says of the signing of zones. */
export const actions = declareActions('account', {
  dnssec: 'DNSSEC of a zone was turned on or off, or its keys were changed',
})
