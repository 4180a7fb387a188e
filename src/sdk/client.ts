import createClient, { type Client } from 'openapi-fetch'
import { type Answer, answerOf, type DataOf, type InitOf, type ItemOf, type PathOf } from './answer.ts'
import type { paths } from './api.generated.ts'
import { ApiError } from './errors.ts'
import { authorized, retrying, type Send } from './send.ts'
import { clientCredentials, givenToken } from './tokens.ts'
import { type Import, type UploadFile, type UploadOptions, uploadImport } from './upload.ts'
import { type Operation, type WaitOptions, waitForEnd } from './wait.ts'

export interface SteadOptions {
  /** Address of the API, `https://api.example.com`; in a page of the API's own origin `''`. */
  readonly url: string
  /** Of an API application, with `clientSecret`: the client gets its tokens by itself. */
  readonly clientId?: string
  readonly clientSecret?: string
  /** In place of client id and secret: a token that is there already. */
  readonly token?: string
  /** Tries after the first when there is no answer, or 429, 502, 503 or 504. Default: 4. */
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

/** Most that the API gives in one page. */
const PER_PAGE = 50

/** A client of the API: what is refused is thrown, what is not answered is sent again, and tokens take care of themselves. */
export class Stead {
  /** The same without envelopes opened and errors thrown: https://openapi-ts.dev/openapi-fetch/api */
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

  /** Any operation by words that are known only at run time. @throws ApiError, ConnectionError */
  async call(method: Method, path: string, init: object = {}): Promise<Answer<unknown>> {
    const client = this.raw as unknown as AnyClient
    const { data, error, response } = await client.request(method, path, init)
    if (!response.ok) throw new ApiError(response, error)
    return answerOf(response, data)
  }

  /** Every entry of a list, page after page: `for await (const site of stead.list('/v1/sites'))`. */
  list<Path extends PathOf<'get'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'get'>>
  ): AsyncGenerator<ItemOf<Path, 'get'>> {
    return this.#entries('get', path, init[0] as AnyInit) as AsyncGenerator<never>
  }

  /** The same for the searches, whose filters are in the body: `stead.search('/v1/sites/search', { body: { filters } })`. */
  search<Path extends PathOf<'post'>>(
    path: Path,
    ...init: Given<InitOf<Path, 'post'>>
  ): AsyncGenerator<ItemOf<Path, 'post'>> {
    return this.#entries('post', path, init[0] as AnyInit) as AsyncGenerator<never>
  }

  /**
   * By the ids of entries, so that what is deleted or added meanwhile moves nothing; page after page where the caller asks for pages, or the
   * API does not know better.
   */
  async *#entries(method: 'get' | 'post', path: string, init: AnyInit = {}): AsyncGenerator<unknown> {
    const given = { per_page: PER_PAGE, ...(method === 'post' ? init.body : init.params?.query) } as Asked
    // events have cursors of their own
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

  /** A file of the API, such as a backup, as it comes. @throws ApiError, ConnectionError */
  async download<Path extends PathOf<'get'>>(path: Path, ...init: Given<InitOf<Path, 'get'>>): Promise<Response> {
    const client = this.raw as unknown as AnyClient
    const { error, response } = await client.request('get', path, { ...init[0], parseAs: 'stream' })
    if (!response.ok) throw new ApiError(response, error)
    return response
  }

  /**
   * Uploads the archive of a site and has it inspected; continues after interruptions.
   * @throws ApiError, ConnectionError
   */
  uploadImport(siteId: number, files: readonly UploadFile[], options: UploadOptions = {}): Promise<Answer<Import>> {
    return uploadImport((method, path, init) => this.call(method, path, init), siteId, files, options)
  }

  /**
   * Waits until the work is done: `const { operationId } = await stead.post(…)`.
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

/** Where a list goes on behind what was answered. */
function nextOf({ after = 0, page = 1 }: Asked, answer: Answer<unknown>): Asked | undefined {
  const nextAfter = Number(answer.headers.get('next-after') ?? Number.NaN)
  // newest first goes down, all others up
  if (!Number.isNaN(nextAfter)) return nextAfter === after ? undefined : { after: nextAfter }
  const nextPage = answer.page?.nextPage
  return nextPage && nextPage > page ? { page: nextPage, after: undefined as never } : undefined
}
