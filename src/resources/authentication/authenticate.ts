import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Database } from '../../platform/db/database.ts'
import { sharedReads } from '../../platform/db/shared-reads.ts'
import { Problem } from '../../platform/http/problem.ts'
import type { Caller } from '../kit/caller.ts'
import { problems } from './problems.ts'
import { findToken, type TokenOwner } from './token.store.ts'

/** Hashes a token for storage, so that the contents of the database grant nothing. */
export const tokenHash = (token: string): string => hash('sha256', token, 'hex')

/**
 * Returns the {@link tokenHash} of the token in a header.
 * @throws Problem `unauthorized`, `invalid_token` for a header without a token
 */
export const tokenHashOf = (authorization: string | undefined): string => tokenHash(bearerToken(authorization))

/**
 * Finds the caller of a bearer token (RFC 6750). A revocation counts at once in every process. SQLite knows for certain
 * that nothing was committed since the last lookup of the token. On PostgreSQL notifications can be late (100 ms on a
 * busy machine), so every request looks the token up, and simultaneous requests share one lookup.
 */
export function createAuthenticator(database: Database) {
  const find = database.dialect === 'sqlite' ? rememberedTokens(database) : sharedTokens(database)
  return async (authorization: string | undefined, nowMs: number): Promise<Caller> => {
    const owner = await find(bearerToken(authorization))
    if (!owner || owner.expiresAt <= nowMs) throw invalidToken()
    return owner
  }
}

type FindOwner = (token: string) => Promise<TokenOwner | undefined>

function rememberedTokens(database: Database): FindOwner {
  const known = new LRUCache<string, { owner: TokenOwner; version: number }>({ max: 10_000 })
  return async (token) => {
    const version = database.changes.version('tokens')
    const remembered = known.get(token)
    if (remembered && remembered.version === version) return remembered.owner
    const owner = await findToken(database.read, tokenHash(token))
    if (owner && version !== undefined) known.set(token, { owner, version })
    else known.delete(token)
    return owner
  }
}

function sharedTokens(database: Database): FindOwner {
  const read = sharedReads((hash) => findToken(database.read, hash))
  return (token) => read(tokenHash(token))
}

/** @throws Problem that names the fault of the header */
function bearerToken(authorization = ''): string {
  const given = authorization.trim()
  const space = given.indexOf(' ')
  const [scheme, token] = space === -1 ? [given, ''] : [given.slice(0, space), given.slice(space).trimStart()]
  if (!scheme) throw new Problem(problems.unauthorized, {}, challenge)
  if (scheme.toLowerCase() !== 'bearer')
    throw token ? new Problem(problems.wrong_scheme, {}, challenge) : new Problem(problems.bare_token, {}, challenge)
  if (!token) throw new Problem(problems.unauthorized, {}, challenge)
  if (!/^[\w.~+/-]{1,512}=*$/.test(token)) throw invalidToken()
  return token
}

/** Answers a client that sends no bearer token. It has no error code (RFC 6750 §3.1). */
const challenge = { headers: { 'www-authenticate': 'Bearer realm="stead"' } }

export const invalidToken = () =>
  new Problem(
    problems.invalid_token,
    {},
    { headers: { 'www-authenticate': 'Bearer realm="stead", error="invalid_token"' } },
  )
