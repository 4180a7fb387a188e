import { ApiError } from './errors.ts'

/** So long before its end a token is not used any more: a request may take its time to arrive. */
const BEFORE_END_MS = 60_000

/** Where the token of a request comes from. */
export interface Tokens {
  get(): Promise<string | undefined>
  /** It was refused. @returns whether `get` may give another one */
  refused(token: string): boolean
}

/** A token that somebody else has got, or none. */
export const givenToken = (token: string | undefined): Tokens => ({ get: async () => token, refused: () => false })

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Client credentials (RFC 6749 §4.4): one token for all requests, and a new one before it ends. */
export function clientCredentials(
  { clientId, clientSecret }: ClientCredentials,
  url: string,
  send: (request: Request) => Promise<Response>,
): Tokens {
  let current: { readonly token: string; readonly until: number } | undefined
  let coming: Promise<string> | undefined

  async function ask(): Promise<string> {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
    const asked = Date.now()
    const response = await send(new Request(`${url}/auth/token`, { method: 'POST', body: new URLSearchParams(form) }))
    const body = (await response.json().catch(() => undefined)) as { access_token: string; expires_in: number }
    if (!response.ok || typeof body?.access_token !== 'string') throw new ApiError(response, body)
    const lastsMs = body.expires_in * 1000
    current = { token: body.access_token, until: asked + Math.max(lastsMs - BEFORE_END_MS, lastsMs / 2) }
    return current.token
  }

  return {
    async get() {
      if (current && current.until > Date.now()) return current.token
      coming ??= ask().finally(() => {
        coming = undefined
      })
      return coming
    },
    refused(token) {
      if (current?.token === token) current = undefined
      return true
    },
  }
}
