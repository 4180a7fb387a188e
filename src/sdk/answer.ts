import type { MaybeOptionalInit } from 'openapi-fetch'
import type { HttpMethod, PathsWithMethod, SuccessResponse } from 'openapi-typescript-helpers'
import type { components, paths } from './api.generated.ts'

/** The operations' paths that take a method. */
export type PathOf<Method extends HttpMethod> = PathsWithMethod<paths, Method>

/** What a request may and must bring: `params`, `body`, `headers`, `signal`. */
export type InitOf<Path extends keyof paths, Method extends HttpMethod & keyof paths[Path]> = MaybeOptionalInit<
  paths[Path],
  Method
>

type Body<Path extends keyof paths, Method extends HttpMethod> =
  paths[Path] extends Record<Method, { responses: infer Responses }>
    ? Responses extends Record<string | number, unknown>
      ? SuccessResponse<Responses>
      : never
    : never

/** What an operation answers: the `data` of the envelope, or the body of what has none. */
export type DataOf<Path extends keyof paths, Method extends HttpMethod> =
  Body<Path, Method> extends { data: infer Data } ? Data : Body<Path, Method>

/** One entry of an operation that answers a list. */
export type ItemOf<Path extends keyof paths, Method extends HttpMethod> =
  DataOf<Path, Method> extends readonly (infer Item)[] ? Item : never

/** A call that went well. */
export interface Answer<Data> {
  readonly data: Data
  /** Of a list that comes in pages. */
  readonly page: components['schemas']['Page'] | undefined
  /** The work that goes on: `waitForOperation` waits for its end. */
  readonly operationId: number | undefined
  /** What the log of the installation has of this request. */
  readonly requestId: string | null
  /** Fields that nobody read, as docs/design/api.md says. */
  readonly ignored: string | null
  readonly status: number
  readonly headers: Headers
}

export function answerOf(response: Response, body: unknown): Answer<unknown> {
  const envelope = isEnvelope(body) ? body : { data: body }
  const operation = response.headers.get('operation-id')
  return {
    data: envelope.data,
    page: envelope.page,
    operationId: operation === null ? undefined : Number(operation),
    requestId: response.headers.get('x-request-id'),
    ignored: response.headers.get('stead-ignored'),
    status: response.status,
    headers: response.headers,
  }
}

interface Envelope {
  readonly data: unknown
  readonly page?: components['schemas']['Page']
}

const isEnvelope = (body: unknown): body is Envelope =>
  typeof body === 'object' && body !== null && 'data' in body && 'errors' in body
