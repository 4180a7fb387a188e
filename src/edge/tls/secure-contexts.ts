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
  /** It is loaded again from then on (milliseconds UTC). */
  readonly renewAt?: number
}

export interface SecureContextsOptions {
  /** They say whether a name has a certificate, and when another one has taken its place. */
  readonly routes: Pick<Routes, 'find'>
  readonly load: (hostName: string) => Promise<Certificate | undefined>
  /** Whether `load` makes the certificate of a name that has none. */
  readonly makes?: (hostName: string) => boolean
  /** Under which name the certificate of a name lies: many may have one together. Default: its own. */
  readonly sharedBy?: (hostName: string) => string | undefined
  /** Called when somebody begins to speak with a site that has a certificate. */
  readonly onVisitor?: (route: Route) => void
  /** Names whose certificates are kept ready (some 40 kB each); the others are read again when somebody comes. */
  readonly most?: number
  /** Milliseconds UTC. */
  readonly now?: () => number
}

const NEVER = Number.POSITIVE_INFINITY
/** How long it is taken for granted that there is none, where none is to be had. */
const NOTHING_MS = 1000

/** What connections are encrypted with, by the name that the visitor asks for. */
export interface SecureContexts {
  /** Undefined: no certificate. Rejects when it cannot be looked up. */
  find(serverName: string): Promise<SecureContext | undefined>
}

interface Kept {
  readonly issuedAt: number
  readonly context: Promise<SecureContext | undefined>
  /** Known as soon as the certificate is. */
  readonly until: { renewAt: number }
}

/** Certificates read when they are asked for, as many kept as there is room for. */
export function createSecureContexts(options: SecureContextsOptions): SecureContexts {
  const { routes, load, makes = () => false, sharedBy = () => undefined, most = 400, now = Date.now } = options
  const { onVisitor = () => {} } = options
  const contexts = new LRUCache<string, Kept>({ max: most })
  const make = async (hostName: string, until: Kept['until']) => {
    const found = await load(hostName)
    until.renewAt = found?.renewAt ?? (found ? NEVER : now() + NOTHING_MS)
    // Node's own roots are for clients: reading them takes longer than a handshake
    return found && createSecureContext({ ...profile, cert: found.chain, key: found.key, ca: [] })
  }
  return {
    async find(serverName) {
      const hostName = parseAuthority(serverName)?.hostName
      const route = hostName === undefined ? undefined : await routes.find(hostName)
      if (!route) return undefined
      const { listedAs = route.hostName } = route
      const shared = sharedBy(listedAs)
      const name = shared ?? listedAs
      const issuedAt = shared === undefined ? (route.certifiedAt ?? 0) : 0
      if (!issuedAt && shared === undefined && !makes(name)) return undefined
      onVisitor(route)
      const kept = contexts.get(name)
      if (kept?.issuedAt === issuedAt && now() < kept.until.renewAt) return kept.context
      const until = { renewAt: NEVER }
      const made = { issuedAt, context: make(name, until), until }
      contexts.set(name, made)
      made.context.catch(() => {
        if (contexts.peek(name) === made) contexts.delete(name)
      })
      return made.context
    },
  }
}
