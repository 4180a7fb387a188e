import { declareActions } from '../kit/action.ts'

/** Activity log entries for the changes that this resource makes. */
export const actions = declareActions('site', {
  'extension_license.issued': 'An extension license was issued',
  'extension_license.written': 'Writing the extension license to the site again was requested',
  'extension_license.revoked': 'The extension license was revoked',
})
