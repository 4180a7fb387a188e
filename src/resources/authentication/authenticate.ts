import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Caller } from '../context.ts'
import { findToken, type TokenOwner } from './token.store.ts'

/** The longest that a process whose notices are held up somewhere on the way can still believe in a revoked token. */
const BELIEVED_MS = 5_000

/** The form in which a token is kept: whoever reads the database cannot use it. */
export const tokenHash = (token: string): string => hash('sha256', token, 'hex')

/**
 * Finds the caller of a bearer token (RFC 6750). Answers from memory as long as the database says that no token has
 * changed since (see `ChangeFeed.version`), so that a revocation counts at once on every process.
 */
export function createAuthenticator(database: Database) {
  const known = new LRUCache<string, { owner: TokenOwner; version: number; believedUntil: number }>({ max: 10_000 })
  return async (authorization: string | undefined, nowMs: number): Promise<Caller> => {
    const token = bearerToken(authorization)
    const version = database.changes.version('tokens')
    const remembered = known.get(token)
    if (remembered && remembered.version === version && remembered.believedUntil > nowMs) return remembered.owner
    const owner = await findToken(database.read, tokenHash(token), nowMs)
    if (!owner) {
      known.delete(token)
      throw invalidToken()
    }
    const believedUntil = Math.min(nowMs + BELIEVED_MS, owner.expiresAt)
    if (version !== undefined) known.set(token, { owner, version, believedUntil })
    return owner
  }
}

function bearerToken(authorization: string | undefined): string {
  if (!authorization) throw new Problem('unauthorized', {}, { headers: { 'www-authenticate': 'Bearer realm="stead"' } })
  const token = /^bearer +([\w.~+/-]{1,512}=*) *$/i.exec(authorization)?.[1]
  if (!token) throw invalidToken()
  return token
}

const invalidToken = () =>
  new Problem('invalid_token', {}, { headers: { 'www-authenticate': 'Bearer realm="stead", error="invalid_token"' } })
