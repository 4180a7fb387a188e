import { ApiError } from './errors.ts'

/** A token is no longer used this long before it expires, because a request takes time to arrive. */
const BEFORE_END_MS = 60_000

/** The source of a request's token. */
export interface Tokens {
  get(): Promise<string | undefined>
  /**
   * Reports a refused token.
   * @returns whether `get` may return another one
   */
  refused(token: string): boolean
}

/** A given token, or none. */
export const givenToken = (token: string | undefined): Tokens => ({ get: async () => token, refused: () => false })

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Client credentials (RFC 6749 §4.4): one token for all requests, replaced before it expires. */
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
