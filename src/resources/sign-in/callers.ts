import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../platform/db/database.ts'
import { sharedReads } from '../../platform/db/shared-reads.ts'
import type { Claims } from '../../platform/http/pipeline.ts'
import { Problem } from '../../platform/http/problem.ts'
import { createAuthenticator, invalidToken, problems, tokenHashOf } from '../authentication/public.ts'
import type { Caller } from '../kit/caller.ts'
import { findSession, PROOF_MS, type SessionOwner, sessionHash } from '../sessions/public.ts'
import { isFromHere, sessionTokenOf } from './cookie.ts'

/**
 * Finds the caller of a request by the token in its header, or else by the session in its cookie. A cookie counts only
 * for pages of this exact address, and only if the session began there, because browsers send a cookie to every port of
 * a host. A session that ends, ends at once in every process (see `createAuthenticator`).
 */
export function createCallers(database: Database) {
  const byToken = createAuthenticator(database)
  const find = database.dialect === 'sqlite' ? rememberedSessions(database) : sharedSessions(database)
  return async ({ headers, origin, onlyReads }: Claims, nowMs: number): Promise<Caller> => {
    const cookie = headers.authorization === undefined && headers.cookie !== undefined
    const token = cookie ? sessionTokenOf(headers, origin()) : undefined
    if (token === undefined) return byToken(headers.authorization, nowMs)
    if (!isFromHere(headers, origin(), onlyReads)) throw crossSite()
    const owner = await find(sessionHash(token))
    if (!owner || owner.session.expiresAt <= nowMs || owner.session.origin !== origin()) throw invalidToken()
    return owner
  }
}

type FindOwner = (hash: string) => Promise<SessionOwner | undefined>

function rememberedSessions(database: Database): FindOwner {
  const known = new LRUCache<string, { owner: SessionOwner; version: number }>({ max: 10_000 })
  return async (hash) => {
    const version = database.changes.version('tokens')
    const remembered = known.get(hash)
    if (remembered && remembered.version === version) return remembered.owner
    const owner = await findSession(database.read, hash)
    if (owner && version !== undefined) known.set(hash, { owner, version })
    else known.delete(hash)
    return owner
  }
}

function sharedSessions(database: Database): FindOwner {
  return sharedReads((hash: string) => findSession(database.read, hash))
}

/**
 * Returns the hash in `tokens` that identifies a request, so that callers can check later whether it is still valid.
 */
export function credentialHash(headers: IncomingHttpHeaders, origin: string): string {
  const token = headers.authorization === undefined ? sessionTokenOf(headers, origin) : undefined
  return token === undefined ? tokenHashOf(headers.authorization) : sessionHash(token)
}

/**
 * Rejects when a session has not confirmed its password recently. Does not apply to tokens of applications.
 * @throws Problem `proof_needed`
 */
export function requireProof({ session }: Caller, now: number): void {
  // A future proof was written before the clock was set back.
  if (session && Math.abs(now - session.provenAt) > PROOF_MS) throw new Problem(problems.proof_needed, {})
}

const crossSite = (): Problem =>
  new Problem(problems.cross_site, {}, { headers: { 'www-authenticate': 'Bearer realm="stead"' } })
