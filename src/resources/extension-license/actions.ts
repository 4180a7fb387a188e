import { declareActions } from '../action.ts'

/** What the activity log says of changes that this resource makes. */
export const actions = declareActions('site', {
  'extension_license.issued': 'An extension license was issued',
  'extension_license.written': 'The extension license was ordered to be written into the site again',
  'extension_license.revoked': 'The extension license was revoked',
})
