import type { MaybeOptionalInit } from 'openapi-fetch'
import type { HttpMethod, PathsWithMethod, SuccessResponse } from 'openapi-typescript-helpers'
import type { components, paths } from './api.generated.ts'

/** The paths of the API that have this method. */
export type PathOf<Method extends HttpMethod> = PathsWithMethod<paths, Method>

/** The optional and required parts of a request: `params`, `body`, `headers`, `signal`. */
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

/** The answer of an operation: the `data` of the envelope, or the complete body if it has no envelope. */
export type DataOf<Path extends keyof paths, Method extends HttpMethod> =
  Body<Path, Method> extends { data: infer Data } ? Data : Body<Path, Method>

/** One entry of an operation that answers a list. */
export type ItemOf<Path extends keyof paths, Method extends HttpMethod> =
  DataOf<Path, Method> extends readonly (infer Item)[] ? Item : never

/** A successful call. */
export interface Answer<Data> {
  readonly data: Data
  /** Set for a list with pages. */
  readonly page: components['schemas']['Page'] | undefined
  /** The operation that continues in the background. `waitForOperation` waits for its end. */
  readonly operationId: number | undefined
  /** Identifies this request in the log of the installation. */
  readonly requestId: string | null
  /** Fields of the request that the API ignored. See docs/design/api.md. */
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
