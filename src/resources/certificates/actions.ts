import { declareActions } from '../kit/action.ts'

const ofSite = declareActions('site', {
  'certificate.issued': 'A certificate was issued for a name of the site',
  'certificate.failed': 'Getting a certificate for a name of the site failed',
})

const ofAccount = declareActions('account', {
  'own_certificate.issued': 'A certificate was issued for names of the installation: the staging domain or the API',
  'own_certificate.failed': 'Getting a certificate for names of the installation failed',
})

/** Activity log entries about certificates. */
export const actions = { ...ofSite, ...ofAccount }
