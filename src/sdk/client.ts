import createClient, { type Client } from 'openapi-fetch'
import { type Answer, answerOf, type DataOf, type InitOf, type ItemOf, type PathOf } from './answer.ts'
import type { paths } from './api.generated.ts'
import { ApiError } from './errors.ts'
import { authorized, retrying, type Send } from './send.ts'
import { clientCredentials, givenToken } from './tokens.ts'
import { type Import, type UploadFile, type UploadOptions, uploadImport } from './upload.ts'
import { type Operation, type WaitOptions, waitForEnd } from './wait.ts'

export interface SteadOptions {
  /** Address of the API, such as `https://api.example.com`, or `''` in a page on the API's own origin. */
  readonly url: string
  /** ID of an API application, with `clientSecret`. The client then gets its tokens automatically. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** An existing token, instead of client ID and secret. */
  readonly token?: string
  /** Retries after no answer, or after 429, 502, 503 or 504. Default: 4. */
  readonly retries?: number
  readonly fetch?: typeof fetch
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

type Method = 'get' | 'post' | 'put' | 'delete'
type Given<Init> = undefined extends Init ? [init?: Init] : [init: Init]
type AnyInit = { params?: { query?: Record<string, unknown> }; body?: object; signal?: AbortSignal } | undefined
// biome-ignore lint/suspicious/noExplicitAny: one call for all paths; the methods below have the types
type AnyClient = { request(method: string, path: string, init: unknown): Promise<any> }

/** The largest page of the API. */
const PER_PAGE = 50

/** A client of the API. It throws refusals, retries requests without an answer, and manages tokens automatically. */
export class Stead {
  /** The underlying client, which does not open envelopes or throw errors: https://openapi-ts.dev/openapi-fetch/api */
  readonly raw: Client<paths>
  readonly #url: string
  readonly #send: Send

  constructor({ url, clientId, clientSecret, token, retries = 4, fetch = globalThis.fetch, headers }: SteadOptions) {
    this.#url = url.replace(/\/+$/, '')
    const send = retrying({ fetch: (input, init) => fetch(input, init), retries })
    const tokens =
      clientId !== undefined && clientSecret !== undefined && token === undefined
        ? clientCredentials({ clientId, clientSecret }, this.#url, send)
        : givenToken(token)
    this.#send = authorized(send, tokens)
    this.raw = createClient<paths>({ baseUrl: this.#url, fetch: this.#send, ...(headers && { headers }) })
  }

  get<Path extends PathOf<'get'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'get'>>
  ): Promise<Answer<DataOf<Path, 'get'>>> {
    return this.call('get', path, init[0]) as never
  }

  post<Path extends PathOf<'post'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'post'>>
  ): Promise<Answer<DataOf<Path, 'post'>>> {
    return this.call('post', path, init[0]) as never
  }

  put<Path extends PathOf<'put'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'put'>>
  ): Promise<Answer<DataOf<Path, 'put'>>> {
    return this.call('put', path, init[0]) as never
  }

  delete<Path extends PathOf<'delete'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'delete'>>
  ): Promise<Answer<DataOf<Path, 'delete'>>> {
    return this.call('delete', path, init[0]) as never
  }

  /**
   * Calls any operation whose method and path are known only at run time.
   * @throws ApiError, ConnectionError
   */
  async call(method: Method, path: string, init: object = {}): Promise<Answer<unknown>> {
    const client = this.raw as unknown as AnyClient
    const { data, error, response } = await client.request(method, path, init)
    if (!response.ok) throw new ApiError(response, error)
    return answerOf(response, data)
  }

  /** Iterates over every entry of a list, page after page: `for await (const site of stead.list('/v1/sites'))`. */
  list<Path extends PathOf<'get'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'get'>>
  ): AsyncGenerator<ItemOf<Path, 'get'>> {
    return this.#entries('get', path, init[0] as AnyInit) as AsyncGenerator<never>
  }

  /**
   * Does the same for searches, whose filters are in the body: `stead.search('/v1/sites/search', { body: { filters }
   * })`.
   */
  search<Path extends PathOf<'post'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'post'>>
  ): AsyncGenerator<ItemOf<Path, 'post'>> {
    return this.#entries('post', path, init[0] as AnyInit) as AsyncGenerator<never>
  }

  /**
   * Pages by the IDs of entries, so that deleted or added entries shift nothing. Uses page numbers if the caller or the
   * API requires them.
   */
  async *#entries(method: 'get' | 'post', path: string, init: AnyInit = {}): AsyncGenerator<unknown> {
    const given = { per_page: PER_PAGE, ...(method === 'post' ? init.body : init.params?.query) } as Asked
    // Events have their own cursors.
    let asked: Asked = given.page === undefined && path !== '/v1/events' ? { after: 0, ...given } : given
    for (;;) {
      const query = path === '/v1/sites' ? { ...asked, paginate: true } : asked
      const answer = await this.call(
        method,
        path,
        method === 'post' ? { ...init, body: asked } : { ...init, params: { ...init.params, query } },
      )
      yield* answer.data as unknown[]
      const next = nextOf(asked, answer)
      if (!next) return
      asked = { ...given, ...next }
    }
  }

  /**
   * Streams a file of the API, such as a backup.
   * @throws ApiError, ConnectionError
   */
  async download<Path extends PathOf<'get'>>(path: Path, ...init: Given<InitOf<Path, 'get'>>): Promise<Response> {
    const client = this.raw as unknown as AnyClient
    const { error, response } = await client.request('get', path, { ...init[0], parseAs: 'stream' })
    if (!response.ok) throw new ApiError(response, error)
    return response
  }

  /**
   * Uploads the archive of a site, continues after interruptions, and has the archive inspected.
   * @throws ApiError, ConnectionError
   */
  uploadImport(siteId: number, files: readonly UploadFile[], options: UploadOptions = {}): Promise<Answer<Import>> {
    return uploadImport((method, path, init) => this.call(method, path, init), siteId, files, options)
  }

  /**
   * Waits until an operation ends: `const { operationId } = await stead.post(…)`.
   * @throws OperationFailed when it failed or was canceled
   */
  waitForOperation(id: number, options: WaitOptions = {}): Promise<Operation> {
    const sight = {
      read: async (id: number, signal: AbortSignal | undefined) =>
        (await this.get('/v1/operations/{id}', { params: { path: { id } }, ...(signal && { signal }) })).data,
      open: (id: number, signal: AbortSignal) =>
        this.#send(
          new Request(`${this.#url}/v1/operations/${id}/events`, { headers: { accept: 'text/event-stream' }, signal }),
        ),
    }
    return waitForEnd(id, sight, options)
  }
}

interface Asked {
  readonly page?: number
  readonly after?: number
}

/** Returns where a list continues after these entries. */
function nextOf({ after = 0, page = 1 }: Asked, answer: Answer<unknown>): Asked | undefined {
  const nextAfter = Number(answer.headers.get('next-after') ?? Number.NaN)
  // Newest first goes down, all other orders go up.
  if (!Number.isNaN(nextAfter)) return nextAfter === after ? undefined : { after: nextAfter }
  const nextPage = answer.page?.nextPage
  return nextPage && nextPage > page ? { page: nextPage, after: undefined as never } : undefined
}
