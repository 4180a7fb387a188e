import { localAuthority } from '../../certificates/local-authority.store.ts'
import { issueLocally } from '../../certificates/local-authority.ts'
import { isBelow, LOCAL_CERTIFICATE_MS, localDomainOf } from '../../certificates/local-domain.ts'
import type { KnownRoutes } from '../../edge/routing/known-routes.ts'
import type { Certificate, SecureContextsOptions } from '../../edge/tls/secure-contexts.ts'
import {
  CERTIFICATE_KEY_PURPOSE,
  edgeKeyPurpose,
  type KeptCertificate,
  keepCertificate,
  keepEdgeKey,
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

type NeededContext = Pick<ProcessContext, 'database' | 'sealer' | 'edgeSealer' | 'log' | 'room'> & {
  readonly config: Pick<ProcessContext['config'], 'localAuthority' | 'stagingDomain' | 'databaseUrl' | 'edgeTlsListen'>
}

/** What an edge without the master key asks of a control. Both reject when the control refuses, or does not answer. */
export interface CertificateControl {
  /** Has a certificate of the installation's own authority issued and stored. */
  issue(hostName: string): Promise<void>
  /** Has the key of a certificate sealed for edges, if an earlier version has stored it. */
  seal(hostName: string): Promise<void>
}

export interface CertificateOptions {
  /** Milliseconds UTC. */
  readonly now?: () => number
  /** Set if this process has no master key. */
  readonly control?: CertificateControl
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
  { now = Date.now, control, known }: CertificateOptions = {},
): Pick<SecureContextsOptions, 'load' | 'makes' | 'sharedBy'> {
  const { config, database, log } = context
  const domain = localDomainOf(config)
  const makes = (hostName: string): boolean => domain !== undefined && isBelow(hostName, domain)
  const keyOf = keyOpener(context, control !== undefined)
  const opened = (hostName: string, kept: KeptCertificate) => ({ ...kept, key: keyOf(hostName, kept) })
  const usableOf = (hostName: string, kept: KeptCertificate) => withRenewal(kept, () => keyOf(hostName, kept))
  const wildcard = wildcardName(config)
  const readSealed = async (hostName: string) => {
    const kept = await loadCertificate(database.read, hostName)
    if (!kept || !control || isOpened(() => keyOf(hostName, kept))) return kept
    try {
      await control.seal(hostName)
    } catch (error) {
      const last = known?.certificate(hostName)
      if (!last) throw error
      log.warn({ err: error, hostName }, 'could not get the key of a newer certificate')
      return { ...last, renewAt: now() + AGAIN_MS }
    }
    return loadCertificate(database.read, hostName)
  }
  const read = async (hostName: string) => {
    try {
      const kept = await readSealed(hostName)
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
      if (hostName === wildcard) return kept && { ...opened(hostName, kept), renewAt: now() + LOOK_AGAIN_MS }
      // Issued under other settings.
      if (!makes(hostName)) return kept && !kept.isLocal ? opened(hostName, kept) : undefined
      const usable = kept && usableOf(hostName, kept)
      if (usable && now() < usable.renewAt) return usable
      try {
        if (!control)
          return await make(context, { domain: domain as string, hostName, replaces: kept?.issuedAt, now: now() })
        await control.issue(hostName)
        const issued = await read(hostName)
        return issued && usableOf(hostName, issued)
      } catch (error) {
        if (!usable || now() >= usable.expiresAt) throw error
        log.warn({ err: error, hostName }, 'could not renew a local certificate')
        return { ...usable, renewAt: now() + AGAIN_MS }
      }
    },
  }
}

type Sealers = Pick<NeededContext, 'sealer' | 'edgeSealer'>

/**
 * Returns what opens the private keys of certificates, as PEM. It throws for a key that it cannot open.
 * @param isEdge whether the process has no master key
 */
export const keyOpener =
  ({ sealer, edgeSealer }: Sealers, isEdge: boolean) =>
  (hostName: string, { privateKey, edgeKey, issuedAt }: KeptCertificate): string =>
    isEdge
      ? edgeSealer.open(edgeKey ?? '', edgeKeyPurpose(hostName, issuedAt))
      : sealer.open(privateKey, CERTIFICATE_KEY_PURPOSE)

/** Returns whether a key could be opened. */
export function isOpened(open: () => string): boolean {
  try {
    open()
    return true
  } catch {
    return false
  }
}

/**
 * Seals the stored key of a certificate for edges. Versions before 0119 store it for processes with the master key.
 * @returns whether the name has a certificate
 */
export async function sealForEdges(
  { database, sealer, edgeSealer }: Sealers & Pick<NeededContext, 'database'>,
  hostName: string,
): Promise<boolean> {
  const kept = await loadCertificate(database.read, hostName)
  if (!kept) return false
  const { issuedAt } = kept
  const key = sealer.open(kept.privateKey, CERTIFICATE_KEY_PURPOSE)
  const edgeKey = edgeSealer.seal(key, edgeKeyPurpose(hostName, issuedAt))
  await database.transaction((tx) => keepEdgeKey(tx, { hostName, issuedAt, edgeKey }))
  return true
}

/** @returns undefined when its key was sealed under a master key that is lost */
function withRenewal({ chain, issuedAt, expiresAt: end }: KeptCertificate, open: () => string) {
  const expiresAt = end ?? Number.POSITIVE_INFINITY
  try {
    return { chain, key: open(), issuedAt, expiresAt, renewAt: expiresAt - BEFORE_END_MS }
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
  context: NeededContext,
  { domain, hostName, replaces, now }: Wanted,
): Promise<Certificate | undefined> {
  const { config, database, sealer, edgeSealer, room } = context
  if (!config.databaseUrl) room.forRecords()
  const authority = await localAuthority({ database, sealer, domain, now })
  const { chain, key, expiresAt } = await issueLocally(authority, hostName, now)
  const privateKey = sealer.seal(key, CERTIFICATE_KEY_PURPOSE)
  const edgeKey = edgeSealer.seal(key, edgeKeyPurpose(hostName, now))
  const sealed = { privateKey, edgeKey }
  const kept = await keepCertificate(database, { hostName, chain, ...sealed, issuedAt: now, expiresAt, replaces })
  return kept && withRenewal(kept, () => keyOpener(context, false)(hostName, kept))
}
