import { declareActions } from '../kit/action.ts'

/** Activity log entries for the signing of zones. */
export const actions = declareActions('account', {
  dnssec: 'DNSSEC of a zone was turned on or off, or its keys were changed',
})
