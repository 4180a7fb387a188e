import { X509Certificate } from 'node:crypto'
import { isBelow, localDomainOf } from '../../certificates/local-domain.ts'
import { settings } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { certificateState } from '../../resources/certificates/certificate.ts'
import { certificateCounts } from '../../resources/certificates/certificate-counts.store.ts'
import { MOST_A_WEEK, sharedCertificate } from '../../resources/certificates/first-addresses.ts'
import { apiCertificateName, ownNames } from '../../resources/certificates/own-names.ts'
import { apiCertificates } from '../certificates/api-certificates.ts'
import { askAuthority } from './authority.ts'
import { type Check, type CheckContext, type Finding, ok, onDatabase, problem, problemOf, warning } from './check.ts'

/** Certificates are renewed long before. */
const ENDS_SOON_MS = 10 * DAY_MS

export const certificateCheck: Check = {
  area: 'certificates',
  async run(context) {
    const { apiTlsListen, edgeTlsListen } = context.config
    if (apiTlsListen === 'off' && edgeTlsListen === 'off')
      return [ok('HTTPS is off, so Stead requires no certificate.')]
    const parts = [terms(context), authority(context), ofApi(context), ordered(context)]
    const found = (await Promise.all(parts.map((part) => part.catch((error) => [problemOf(error)])))).flat()
    return found.length > 0 ? found : [ok('Every certificate is valid.')]
  },
}

async function terms({ config }: CheckContext): Promise<Finding[]> {
  const { acmeTermsAgreed, acmeDirectory } = config
  const names = ownNames(config)
  const remedy = 'Read the terms of the authority, then set STEAD_ACME_TERMS_AGREED=true.'
  if (!acmeTermsAgreed && names.length > 0)
    return [problem(`Stead requests no certificates for ${names.join(', ')}.`, remedy)]
  if (!acmeTermsAgreed) return [warning('Stead requests no certificates for domains of sites.', remedy)]
  if (acmeDirectory !== settings.acmeDirectory.default) return []
  const real = 'Set STEAD_ACME_DIRECTORY=https://acme-v02.api.letsencrypt.org/directory.'
  return [warning('This authority is for tests. Browsers do not trust its certificates.', real)]
}

async function authority(context: CheckContext): Promise<Finding[]> {
  const { acmeDirectory } = context.config
  try {
    const answer = await askAuthority(context)
    if (!answer || answer.isDirectory) return []
    return [
      problem(
        `${acmeDirectory} is not the directory of a certificate authority (HTTP ${answer.status}).`,
        'Correct STEAD_ACME_DIRECTORY.',
      ),
    ]
  } catch (error) {
    const text = `The certificate authority cannot be reached: ${(error as Error).message}.`
    return [problem(text, 'Allow connections from this server to STEAD_ACME_DIRECTORY, and check STEAD_ACME_ROOTS.')]
  }
}

/** Checks the certificate that the API presents to clients. */
const ofApi = (context: CheckContext): Promise<readonly Finding[]> =>
  onDatabase(context, async ({ database, sealer }) => {
    const { config } = context
    const local = localDomainOf(config)
    const isLocal = config.apiName !== undefined && local !== undefined && isBelow(config.apiName, local)
    const isFile = config.apiTlsCertificate !== undefined || config.apiTlsKey !== undefined
    // A start issues those of the local authority as needed.
    if (config.apiTlsListen === 'off' || (isLocal && !isFile)) return []
    const found = await apiCertificates({ config, database, sealer })()
    if (!found) return [await notYet(database.read, apiCertificateName(config))]
    const leftMs = Date.parse(new X509Certificate(found.chain).validTo) - context.now()
    const renew = isFile
      ? 'Replace the files of STEAD_API_TLS_CERTIFICATE and STEAD_API_TLS_KEY.'
      : 'Check why Stead cannot renew it.'
    if (leftMs <= 0) return [problem('The certificate of the API has expired.', renew)]
    if (leftMs > ENDS_SOON_MS) return []
    return [warning(`The certificate of the API expires in ${Math.ceil(leftMs / DAY_MS)} days.`, renew)]
  })

async function notYet(tx: Tx, name: string | undefined): Promise<Finding> {
  const reason = name === undefined ? undefined : (await certificateState(tx, name))?.reason
  if (reason == null)
    return warning('The API has no certificate yet.', 'Check that STEAD_API_NAME points to this server.')
  return warning(`The API has no certificate yet: ${reason}.`, 'Stead retries within minutes, later once a day.')
}

const ordered = (context: CheckContext): Promise<readonly Finding[]> =>
  onDatabase(context, async ({ database }) => {
    const { ended, failing: all } = await certificateCounts(database.read, context.now())
    const shared = await sharedCertificate(database.read, context.config, context.now())
    const failing = shared.kind === 'missing' ? all - 1 : all
    const remedy = 'To see the reason for each domain of a site, run stead domains list.'
    return [
      ...(ended > 0 ? [problem(`Expired certificates that were not replaced: ${ended}.`, remedy)] : []),
      ...(shared.kind === 'missing' ? [ofEachSite(shared.reason)] : []),
      ...(failing > 0 ? [problem(`Names whose last certificate request failed: ${failing}.`, remedy)] : []),
    ]
  })

/** A warning, because new sites get certificates nevertheless. */
const ofEachSite = (reason: string): Finding =>
  warning(
    `First addresses have no certificate together: ${reason}.`,
    `Until they have one, each new site gets its own, up to ${MOST_A_WEEK} a week.`,
  )
