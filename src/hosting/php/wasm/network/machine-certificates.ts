import { getCACertificates } from 'node:tls'

/**
 * The CAs that this machine trusts, PEM: those of its system, or of Node where it has none of its own, and what `NODE_EXTRA_CA_CERTS`
 * adds. As they are now: what the operator adds counts from the next start.
 */
export function machineCertificates(): string {
  const ofSystem = getCACertificates('system')
  const known = ofSystem.length > 0 ? ofSystem : getCACertificates('bundled')
  // the system's folder has each of them by several names
  return [...new Set([...known, ...getCACertificates('extra')])].map((each) => each.trim()).join('\n')
}
