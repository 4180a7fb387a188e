import { declareActions } from '../action.ts'

/** What the activity log says of certificates. */
export const actions = declareActions('site', {
  'certificate.issued': 'A certificate was issued for a name of the site',
  'certificate.failed': 'No certificate could be had for a name of the site',
})
