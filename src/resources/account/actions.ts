import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('account', {
  created: 'An account was created',
  settings: "The account's settings were changed",
  'addon.attached': 'An add-on was attached',
  'addon.changed': 'The quantity of an add-on was changed',
  'addon.detached': 'An add-on was detached',
})
