import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { parseAuthority } from '../routing/host-name.ts'
import type { Route, Routes } from '../routing/route.ts'
import { profile } from './profile.ts'

/** A certificate with its key, in PEM. */
export interface Certificate {
  readonly chain: string
  readonly key: string
  readonly issuedAt: number
  /** When to load it again (milliseconds UTC). */
  readonly renewAt?: number
}

export interface SecureContextsOptions {
  /** Tell whether a name has a certificate, and when it was replaced. */
  readonly routes: Pick<Routes, 'find' | 'peek'>
  readonly load: (hostName: string) => Promise<Certificate | undefined>
  /** Returns whether `load` creates the certificate of a name that has none. */
  readonly makes?: (hostName: string) => boolean
  /** Returns the name under which a certificate is stored, because several names may share one. Default: its own. */
  readonly sharedBy?: (hostName: string) => string | undefined
  /** Called when a client connects to a site that has a certificate. */
  readonly onVisitor?: (route: Route) => void
  /** The most names whose certificates stay loaded (about 40 kB each). Others are read again on demand. */
  readonly most?: number
  /** Milliseconds UTC. */
  readonly now?: () => number
}

const NEVER = Number.POSITIVE_INFINITY
/** How long a missing certificate is taken as missing. */
const NOTHING_MS = 1000

/** Finds the TLS context for the name that the client requests. */
export interface SecureContexts {
  /** Resolves with undefined when the name has no certificate. Rejects when the database is unreachable. */
  find(serverName: string, asked?: { readonly isVisitor: boolean }): Promise<SecureContext | undefined>
}

interface Kept {
  readonly issuedAt: number
  readonly context: Promise<SecureContext | undefined>
  /** Set when the certificate is loaded. */
  readonly until: { renewAt: number }
}

/** Creates a cache of certificates that are read on demand. */
export function createSecureContexts(options: SecureContextsOptions): SecureContexts {
  const { routes, load, makes = () => false, sharedBy = () => undefined, most = 400, now = Date.now } = options
  const { onVisitor = () => {} } = options
  const contexts = new LRUCache<string, Kept>({ max: most })
  const make = async (hostName: string, until: Kept['until']) => {
    const found = await load(hostName)
    until.renewAt = found?.renewAt ?? (found ? NEVER : now() + NOTHING_MS)
    // Node's default roots are for clients, and loading them takes longer than a handshake.
    return found && createSecureContext({ ...profile, cert: found.chain, key: found.key, ca: [] })
  }
  return {
    async find(serverName, { isVisitor } = { isVisitor: true }) {
      const hostName = parseAuthority(serverName)?.hostName
      const look = (!isVisitor && routes.peek) || routes.find
      const route = hostName === undefined ? undefined : await look(hostName)
      if (!route) return undefined
      const { listedAs = route.hostName } = route
      // A name with a certificate of its own does not need the one that it could share.
      const shared = route.certifiedAt ? undefined : sharedBy(listedAs)
      const name = shared ?? listedAs
      const issuedAt = shared === undefined ? (route.certifiedAt ?? 0) : 0
      if (!issuedAt && shared === undefined && !makes(name)) return undefined
      if (isVisitor) onVisitor(route)
      const kept = isVisitor ? contexts.get(name) : contexts.peek(name)
      if (kept?.issuedAt === issuedAt && now() < kept.until.renewAt) return kept.context
      const until = { renewAt: NEVER }
      // The monitoring asks for all names in turn, and would displace those that visitors need.
      if (!isVisitor && contexts.size >= most) return make(name, until)
      const made = { issuedAt, context: make(name, until), until }
      contexts.set(name, made)
      made.context.catch(() => {
        if (contexts.peek(name) === made) contexts.delete(name)
      })
      return made.context
    },
  }
}
