import type { IncomingHttpHeaders } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../platform/db/database.ts'
import { sharedReads } from '../../platform/db/shared-reads.ts'
import type { Claims } from '../../platform/http/pipeline.ts'
import { Problem } from '../../platform/http/problem.ts'
import { createAuthenticator, invalidToken, tokenHashOf } from '../authentication/authenticate.ts'
import { problems } from '../authentication/problems.ts'
import type { Caller } from '../kit/context.ts'
import { findSession, PROOF_MS, type SessionOwner, sessionHash } from '../sessions/session.ts'
import { isFromHere, sessionTokenOf } from './cookie.ts'

/**
 * Finds the caller of a request: by the token in its header, or else by the session in its cookie, which counts only for pages of this
 * very address, and only if it began there: browsers send a cookie to every port of a host. A session that ends, ends at once on every process (see `createAuthenticator`).
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

/** The row of `tokens` that a request goes by, for who looks again later whether it still counts. */
export function credentialHash(headers: IncomingHttpHeaders, origin: string): string {
  const token = headers.authorization === undefined ? sessionTokenOf(headers, origin) : undefined
  return token === undefined ? tokenHashOf(headers.authorization) : sessionHash(token)
}

/** @throws Problem `proof_needed` when a session has not shown its password lately; tokens of applications are not asked */
export function requireProof({ session }: Caller, now: number): void {
  // a proof of the future is that of a clock that was set back since
  if (session && Math.abs(now - session.provenAt) > PROOF_MS) throw new Problem(problems.proof_needed, {})
}

const crossSite = (): Problem =>
  new Problem(problems.cross_site, {}, { headers: { 'www-authenticate': 'Bearer realm="stead"' } })
