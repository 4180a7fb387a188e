/** What other folders may import from this resource. */
export {
  type CertificateState,
  certificateState,
  dropCertificate,
  forceTls,
  retryCertificate,
  wantCertificate,
} from './certificate.ts'
export { type CertificateCounts, certificateCounts } from './certificate-counts.store.ts'
export { createComesBack, marksHere } from './comes-back.ts'
export { MOST_A_WEEK, sharedCertificate } from './first-addresses.ts'
export { orderOwnNames } from './order-certificate.job.ts'
export { apiCertificateName, ownNames, wildcardName } from './own-names.ts'
export { siteUrl } from './site-url.ts'
