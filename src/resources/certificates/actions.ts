import { declareActions } from '../action.ts'

const ofSite = declareActions('site', {
  'certificate.issued': 'A certificate was issued for a name of the site',
  'certificate.failed': 'No certificate could be had for a name of the site',
})

const ofAccount = declareActions('account', {
  'own_certificate.issued':
    'A certificate was issued for names of Stead itself: the first addresses of all sites, or the API',
  'own_certificate.failed': 'No certificate could be had for names of Stead itself',
})

/** What the activity log says of certificates. */
export const actions = { ...ofSite, ...ofAccount }
