import { localAuthority } from '../../certificates/local-authority.store.ts'
import { issueLocally } from '../../certificates/local-authority.ts'
import { isBelow, LOCAL_CERTIFICATE_MS, localDomainOf } from '../../certificates/local-domain.ts'
import type { KnownRoutes } from '../../edge/routing/known-routes.ts'
import type { Certificate, SecureContextsOptions } from '../../edge/tls/secure-contexts.ts'
import {
  CERTIFICATE_KEY_PURPOSE,
  type KeptCertificate,
  keepCertificate,
  loadCertificate,
} from '../../edge/tls/tls.store.ts'
import { isAway } from '../../platform/db/last-known.ts'
import { wildcardName } from '../../resources/certificates/own-names.ts'
import type { ProcessContext } from '../process-context.ts'

/** A certificate is replaced with a third of its lifetime left, like ordered ones. */
const BEFORE_END_MS = LOCAL_CERTIFICATE_MS / 3
/** The interval of checks for a new certificate of all first addresses. */
const LOOK_AGAIN_MS = 30_000
/** The delay before another attempt when a certificate could not be issued. */
const AGAIN_MS = 300_000

type NeededContext = Pick<ProcessContext, 'database' | 'sealer' | 'log' | 'room'> & {
  readonly config: Pick<ProcessContext['config'], 'localAuthority' | 'stagingDomain' | 'databaseUrl' | 'edgeTlsListen'>
}

export interface CertificateOptions {
  /** Milliseconds UTC. */
  readonly now?: () => number
  /** Has the installation's own authority issue and store a certificate elsewhere, if this process may not. */
  readonly issueElsewhere?: (hostName: string) => Promise<void>
  /** The certificates on the disk. */
  readonly known?: Pick<KnownRoutes, 'certificate' | 'keepCertificate'> | undefined
}

/**
 * Returns the source of the edge's certificates: the database, and the installation's own authority for names that no
 * public authority knows. The latter issues when the first visitor needs a certificate, and again for renewal. Only
 * names of sites get here. While the database is away, the certificates on the disk count.
 */
export function certificatesOf(
  context: NeededContext,
  { now = Date.now, issueElsewhere, known }: CertificateOptions = {},
): Pick<SecureContextsOptions, 'load' | 'makes' | 'sharedBy'> {
  const { config, database, sealer, log } = context
  const domain = localDomainOf(config)
  const makes = (hostName: string): boolean => domain !== undefined && isBelow(hostName, domain)
  const opened = (kept: KeptCertificate) => ({ ...kept, key: sealer.open(kept.privateKey, CERTIFICATE_KEY_PURPOSE) })
  const wildcard = wildcardName(config)
  const read = async (hostName: string) => {
    try {
      const kept = await loadCertificate(database.read, hostName)
      known?.keepCertificate(hostName, kept)
      return kept
    } catch (error) {
      const kept = isAway(error) ? known?.certificate(hostName) : undefined
      if (!kept) throw error
      return kept
    }
  }
  return {
    makes,
    sharedBy: (hostName) => (wildcard !== undefined && isBelow(hostName, config.stagingDomain) ? wildcard : undefined),
    async load(hostName) {
      const kept = await read(hostName)
      // No route announces a newer one.
      if (hostName === wildcard) return kept && { ...opened(kept), renewAt: now() + LOOK_AGAIN_MS }
      // Issued under other settings.
      if (!makes(hostName)) return kept && !kept.isLocal ? opened(kept) : undefined
      const usable = kept && withRenewal(kept, sealer)
      if (usable && now() < usable.renewAt) return usable
      try {
        if (issueElsewhere) {
          await issueElsewhere(hostName)
          const issued = await read(hostName)
          return issued && withRenewal(issued, sealer)
        }
        return await make(context, { domain: domain as string, hostName, replaces: kept?.issuedAt, now: now() })
      } catch (error) {
        if (!usable || now() >= usable.expiresAt) throw error
        log.warn({ err: error, hostName }, 'could not renew a local certificate')
        return { ...usable, renewAt: now() + AGAIN_MS }
      }
    },
  }
}

/** @returns undefined when its key was sealed under a master key that is lost */
function withRenewal(kept: KeptCertificate, sealer: ProcessContext['sealer']) {
  const expiresAt = kept.expiresAt ?? Number.POSITIVE_INFINITY
  try {
    const { chain, issuedAt } = kept
    const key = sealer.open(kept.privateKey, CERTIFICATE_KEY_PURPOSE)
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

/** @returns the certificate of another process if that was quicker; undefined when no site has the name any longer */
async function make(
  { config, database, sealer, room }: NeededContext,
  { domain, hostName, replaces, now }: Wanted,
): Promise<Certificate | undefined> {
  if (!config.databaseUrl) room.forRecords()
  const authority = await localAuthority({ database, sealer, domain, now })
  const { chain, key, expiresAt } = await issueLocally(authority, hostName, now)
  const privateKey = sealer.seal(key, CERTIFICATE_KEY_PURPOSE)
  const kept = await keepCertificate(database, { hostName, chain, privateKey, issuedAt: now, expiresAt, replaces })
  return kept && withRenewal(kept, sealer)
}
