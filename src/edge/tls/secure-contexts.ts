import { createSecureContext, type SecureContext } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { parseAuthority } from '../host-name.ts'
import type { Routes } from '../route.ts'
import { profile } from './profile.ts'

/** A certificate with its key, in PEM. */
export interface Certificate {
  readonly chain: string
  readonly key: string
  readonly issuedAt: number
}

export interface SecureContextsOptions {
  /** They say whether a name has a certificate, and when another one has taken its place. */
  readonly routes: Pick<Routes, 'find'>
  readonly load: (hostName: string) => Promise<Certificate | undefined>
  /** Names whose certificates are kept ready (some 40 kB each); the others are read again when somebody comes. */
  readonly most?: number
}

/** What connections are encrypted with, by the name that the visitor asks for. */
export interface SecureContexts {
  /** Undefined: no certificate. Rejects when it cannot be looked up. */
  find(serverName: string): Promise<SecureContext | undefined>
}

interface Kept {
  readonly issuedAt: number
  readonly context: Promise<SecureContext | undefined>
}

/** Certificates read when they are asked for, as many kept as there is room for. */
export function createSecureContexts({ routes, load, most = 400 }: SecureContextsOptions): SecureContexts {
  const contexts = new LRUCache<string, Kept>({ max: most })
  const make = async (hostName: string) => {
    const found = await load(hostName)
    // Node's own roots are for clients: reading them takes longer than a handshake
    return found && createSecureContext({ ...profile, cert: found.chain, key: found.key, ca: [] })
  }
  return {
    async find(serverName) {
      const hostName = parseAuthority(serverName)?.hostName
      const route = hostName === undefined ? undefined : await routes.find(hostName)
      if (!route?.certifiedAt) return undefined
      const kept = contexts.get(route.hostName)
      if (kept?.issuedAt === route.certifiedAt) return kept.context
      const made = { issuedAt: route.certifiedAt, context: make(route.hostName) }
      contexts.set(route.hostName, made)
      made.context.catch(() => {
        if (contexts.peek(route.hostName) === made) contexts.delete(route.hostName)
      })
      return made.context
    },
  }
}
