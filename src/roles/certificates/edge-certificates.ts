import { localAuthority } from '../../certificates/local-authority.store.ts'
import { issueLocally } from '../../certificates/local-authority.ts'
import { isBelow, LOCAL_CERTIFICATE_MS, localDomainOf } from '../../certificates/local-domain.ts'
import type { Certificate, SecureContextsOptions } from '../../edge/tls/secure-contexts.ts'
import { KEY_PURPOSE, type KeptCertificate, keepCertificate, loadCertificate } from '../../edge/tls/tls.store.ts'
import { wildcardName } from '../../resources/certificates/own-names.ts'
import type { ProcessContext } from '../process-context.ts'

/** With a third of its life left a certificate is replaced, as ordered ones are. */
const BEFORE_END_MS = LOCAL_CERTIFICATE_MS / 3
/** How soon a new certificate of all first addresses is taken up. */
const LOOK_AGAIN_MS = 30_000
/** How soon it is tried again when another could not be made. */
const AGAIN_MS = 300_000

type NeededContext = Pick<ProcessContext, 'database' | 'sealer' | 'log' | 'room'> & {
  readonly config: Pick<ProcessContext['config'], 'localAuthority' | 'stagingDomain' | 'databaseUrl' | 'edgeTlsListen'>
}

/**
 * Where the edge has certificates from: the database, and for names that no public authority knows the installation's own authority, when
 * the first visitor asks for one over TLS, and again when it is to be renewed. Only names of sites get here.
 */
export function certificatesOf(
  context: NeededContext,
  now = Date.now,
): Pick<SecureContextsOptions, 'load' | 'makes' | 'sharedBy'> {
  const { config, database, sealer, log } = context
  const domain = localDomainOf(config)
  const makes = (hostName: string): boolean => domain !== undefined && isBelow(hostName, domain)
  const opened = (kept: KeptCertificate) => ({ ...kept, key: sealer.open(kept.privateKey, KEY_PURPOSE) })
  const wildcard = wildcardName(config)
  return {
    makes,
    sharedBy: (hostName) => (wildcard !== undefined && isBelow(hostName, config.stagingDomain) ? wildcard : undefined),
    async load(hostName) {
      const kept = await loadCertificate(database.read, hostName)
      // no route says when there is a newer one
      if (hostName === wildcard) return kept && { ...opened(kept), renewAt: now() + LOOK_AGAIN_MS }
      // made when the settings were others
      if (!makes(hostName)) return kept && !kept.isLocal ? opened(kept) : undefined
      const known = kept && withRenewal(kept, sealer)
      if (known && now() < known.renewAt) return known
      try {
        return await make(context, { domain: domain as string, hostName, replaces: kept?.issuedAt, now: now() })
      } catch (error) {
        if (!known || now() >= known.expiresAt) throw error
        log.warn({ err: error, hostName }, 'could not renew a local certificate')
        return { ...known, renewAt: now() + AGAIN_MS }
      }
    },
  }
}

/** @returns undefined when its key was sealed under a master key that is lost */
function withRenewal(kept: KeptCertificate, sealer: ProcessContext['sealer']) {
  const expiresAt = kept.expiresAt ?? Number.POSITIVE_INFINITY
  try {
    const { chain, issuedAt } = kept
    const key = sealer.open(kept.privateKey, KEY_PURPOSE)
    return { chain, key, issuedAt, expiresAt, renewAt: expiresAt - BEFORE_END_MS }
  } catch {
    return undefined
  }
}

interface Wanted {
  readonly domain: string
  readonly hostName: string
  readonly replaces: number | undefined
  readonly now: number
}

/** @returns what another process has made meanwhile, where one was quicker; undefined when no site has the name any more */
async function make(
  { config, database, sealer, room }: NeededContext,
  { domain, hostName, replaces, now }: Wanted,
): Promise<Certificate | undefined> {
  if (!config.databaseUrl) room.forRecords()
  const authority = await localAuthority({ database, sealer, domain, now })
  const { chain, key, expiresAt } = await issueLocally(authority, hostName, now)
  const privateKey = sealer.seal(key, KEY_PURPOSE)
  const kept = await keepCertificate(database, { hostName, chain, privateKey, issuedAt: now, expiresAt, replaces })
  return kept && withRenewal(kept, sealer)
}
