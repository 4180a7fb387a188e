import { createPrivateKey, X509Certificate } from 'node:crypto'
import { localAuthority } from '../../certificates/local-authority.store.ts'
import { issueLocally } from '../../certificates/local-authority.ts'
import { isBelow, LOCAL_CERTIFICATE_MS, localDomainOf } from '../../certificates/local-domain.ts'
import { CERTIFICATE_KEY_PURPOSE, loadCertificate } from '../../edge/tls/tls.store.ts'
import { readSettingFile } from '../../platform/files/setting-file.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { apiCertificateName } from '../../resources/certificates/own-names.ts'
import type { ProcessContext } from '../process-context.ts'

/** Both in PEM. */
export interface ApiCertificate {
  readonly chain: string
  readonly key: string
}

type NeededContext = Pick<ProcessContext, 'config' | 'database' | 'sealer'>
/** @returns undefined until the certificate exists */
type Load = () => Promise<ApiCertificate | undefined>

/**
 * Returns the source of the API's certificate, according to the settings.
 * @throws OperatorError when they name none
 */
export function apiCertificates(context: NeededContext, now = Date.now): Load {
  const { config, database, sealer } = context
  const { apiName, apiTlsCertificate, apiTlsKey } = config
  if (apiTlsCertificate !== undefined || apiTlsKey !== undefined) return () => ofFiles(apiTlsCertificate, apiTlsKey)
  const ordered = apiCertificateName(config)
  if (ordered !== undefined)
    return async () => {
      const kept = await loadCertificate(database.read, ordered)
      return kept && { chain: kept.chain, key: sealer.open(kept.privateKey, CERTIFICATE_KEY_PURPOSE) }
    }
  const domain = localDomainOf(config)
  if (apiName !== undefined && domain !== undefined && isBelow(apiName, domain))
    return ofLocalAuthority(context, { domain, apiName, now })
  throw new OperatorError(
    apiName === undefined
      ? 'STEAD_API_TLS_LISTEN requires a certificate. Set the host name of the API (STEAD_API_NAME), or certificate files (STEAD_API_TLS_CERTIFICATE, STEAD_API_TLS_KEY).'
      : `No authority issues certificates for ${apiName} (STEAD_API_NAME). Set files with your own certificate (STEAD_API_TLS_CERTIFICATE, STEAD_API_TLS_KEY).`,
  )
}

async function ofFiles(certificate: string | undefined, key: string | undefined): Promise<ApiCertificate> {
  if (certificate === undefined || key === undefined)
    throw new OperatorError('Set STEAD_API_TLS_CERTIFICATE and STEAD_API_TLS_KEY together.')
  const chain = await readSettingFile(certificate, 'STEAD_API_TLS_CERTIFICATE', (text) => new X509Certificate(text))
  const secret = await readSettingFile(key, 'STEAD_API_TLS_KEY', createPrivateKey)
  if (!new X509Certificate(chain).checkPrivateKey(createPrivateKey(secret)))
    throw new OperatorError(`The key in ${key} does not match the certificate in ${certificate}.`)
  return { chain, key: secret }
}

/** Issues a certificate in each process. Clients trust it through its authority. */
function ofLocalAuthority(
  { database, sealer }: NeededContext,
  { domain, apiName, now }: { domain: string; apiName: string; now: () => number },
): Load {
  let made: (ApiCertificate & { readonly renewAt: number }) | undefined
  return async () => {
    const time = now()
    if (made && time < made.renewAt) return made
    const authority = await localAuthority({ database, sealer, domain, now: time })
    const { chain, key, expiresAt } = await issueLocally(authority, apiName, time)
    made = { chain, key, renewAt: expiresAt - LOCAL_CERTIFICATE_MS / 3 }
    return made
  }
}
