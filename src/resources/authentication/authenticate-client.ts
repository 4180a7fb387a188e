import { hash, timingSafeEqual } from 'node:crypto'
import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { reply, type SpecialReply } from '../../platform/http/endpoint.ts'
import type { Problem } from '../../platform/http/problem.ts'
import { type ApiClient, findClient } from './token.store.ts'

/** A token error of RFC 6749 §5.2, which has no envelope. */
export interface TokenError {
  readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type'
  readonly error_description: string
}

/** Schema of the errors of the token endpoints. */
export const tokenFailure = {
  schema: Type.Object(
    {
      error: Type.String({
        description: 'invalid_request, invalid_client or unsupported_grant_type',
        examples: ['invalid_client'],
      }),
      error_description: Type.String({ examples: ['The client is unknown, or the client secret is wrong.'] }),
    },
    { title: 'TokenError' },
  ),
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

/** Headers of every answer about a token (RFC 6749 §5.1). */
export const noStore = { 'cache-control': 'no-store' }

/** The answer to a request whose fault is not its client. */
export const badRequest = (error: TokenError['error'], description: string): SpecialReply =>
  reply({ error, error_description: description }, { status: 400, headers: noStore })

/**
 * Returns the application whose credentials were sent as fields or with HTTP Basic (RFC 6749 §2.3.1), or the answer to
 * a client whose credentials are wrong or absent.
 */
export async function authenticateClient(
  tx: Tx,
  body: Credentials,
  authorization: string | undefined,
): Promise<{ client: ApiClient; refusal?: undefined } | { client?: undefined; refusal: SpecialReply }> {
  // Clients that add their bearer token to every request send it here too. It does not identify the application.
  const isBasic = /^basic /i.test(authorization ?? '')
  const { client_id: id, client_secret: secret } = isBasic ? basicCredentials(authorization as string) : body
  if (!id || !secret)
    return refused(
      'client_id and client_secret are required. Send them as fields or with HTTP Basic authentication.',
      challenge,
    )
  const client = await findClient(tx, id)
  // Compares for an unknown client too, so that the time of an answer reveals nothing.
  const given = hash('sha256', secret, 'buffer')
  const kept = Buffer.from(client?.secret_hash ?? '00'.repeat(32), 'hex')
  if (timingSafeEqual(given, kept) && client) return { client }
  return refused('The client is unknown, or the client secret is wrong.', isBasic ? challenge : {})
}

/**
 * Sent only to clients that used the header or sent nothing (RFC 6749 §5.2). Libraries that receive it report it
 * instead of the error in the body, and browsers ask their user for a password.
 */
const challenge = { 'www-authenticate': 'Basic realm="stead"' }

const refused = (description: string, headers: Record<string, string>) => ({
  refusal: refusedClient(description, headers),
})

/** The answer to a client that does not get a token. */
export const refusedClient = (description: string, headers: Record<string, string> = {}): SpecialReply =>
  reply({ error: 'invalid_client', error_description: description } satisfies TokenError, {
    status: 401,
    headers: { ...noStore, ...headers },
  })

function basicCredentials(authorization: string): Credentials {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1]
  if (!encoded) return {}
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) return {}
  try {
    // Both parts are form-encoded (RFC 6749 §2.3.1).
    return { client_id: formDecoded(text.slice(0, colon)), client_secret: formDecoded(text.slice(colon + 1)) }
  } catch {
    return {}
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))
