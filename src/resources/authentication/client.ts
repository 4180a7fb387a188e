import { hash, timingSafeEqual } from 'node:crypto'
import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import type { Problem } from '../../platform/http/problem.ts'
import { type Client, findClient } from './token.store.ts'

/** A token error of RFC 6749 §5.2, which has no envelope. */
export interface TokenError {
  readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type'
  readonly error_description: string
}

/** How errors of the token operations look. */
export const tokenFailure = {
  schema: Type.Object({
    error: Type.String({ description: 'invalid_request, invalid_client or unsupported_grant_type' }),
    error_description: Type.String(),
  }),
  headers: { 'cache-control': 'no-store' },
  body: (problem: Problem): object => ({
    error: problem.status < 500 ? 'invalid_request' : 'server_error',
    error_description: problem.message,
  }),
}

interface Credentials {
  readonly client_id?: string
  readonly client_secret?: string
}

/** The application whose credentials were sent as fields or by HTTP Basic (RFC 6749 §2.3.1), or what is wrong with them. */
export async function authenticateClient(
  tx: Tx,
  body: Credentials,
  authorization: string | undefined,
): Promise<{ client: Client; error?: undefined } | { client?: undefined; error: TokenError }> {
  // clients that put their bearer token on every request send it here too: it says nothing about the application
  const isBasic = /^basic /i.test(authorization ?? '')
  const { client_id: id, client_secret: secret } = isBasic ? basicCredentials(authorization as string) : body
  if (!id || !secret) return invalid('client_id and client_secret are required, as fields or by HTTP Basic.')
  const client = await findClient(tx, id)
  // compared even for an unknown client: the time of an answer tells nothing
  const given = hash('sha256', secret, 'buffer')
  const kept = Buffer.from(client?.secret_hash ?? '00'.repeat(32), 'hex')
  if (!timingSafeEqual(given, kept) || !client) return invalid('Unknown client, or wrong client secret.')
  return { client }
}

const invalid = (description: string): { error: TokenError } => ({
  error: { error: 'invalid_client', error_description: description },
})

function basicCredentials(authorization: string): Credentials {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1]
  if (!encoded) return {}
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) return {}
  try {
    // both parts are form-encoded inside (RFC 6749 §2.3.1)
    return { client_id: formDecoded(text.slice(0, colon)), client_secret: formDecoded(text.slice(colon + 1)) }
  } catch {
    return {}
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))
