import { getCACertificates } from 'node:tls'

/**
 * Returns the CAs that this machine trusts, as PEM: its system's, or Node's if the system has none, plus those in
 * `NODE_EXTRA_CA_CERTS`. A later addition by the operator counts from the next start.
 */
export function machineCertificates(): string {
  const ofSystem = getCACertificates('system')
  const known = ofSystem.length > 0 ? ofSystem : getCACertificates('bundled')
  // The system's folder contains each of them under several names.
  return [...new Set([...known, ...getCACertificates('extra')])].map((each) => each.trim()).join('\n')
}
