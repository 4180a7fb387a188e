import type { TObject, TSchema } from 'typebox'
import type { Tx } from '../db/database.ts'
import type { Problem, ProblemKind } from './problem.ts'
import type { Page } from './schemas.ts'

/** The caller. The resources add the fields that they need. */
export interface CallerFacts {
  readonly applicationId: number
}

/** The recorded facts of a request. */
export interface RecordedRequest {
  readonly id: string
  readonly ipAddress: string
  readonly userAgent: string
  readonly headers: Record<string, string | string[] | undefined>
}

/** The context of every handler. `access` adds its part (see `Platform.authorize`). */
export interface BaseContext {
  readonly tx: Tx
  /** Milliseconds UTC, read from the clock once for the whole request. */
  readonly now: number
  readonly request: RecordedRequest
  /** The scheme, host name and port that the client, or a trusted proxy, says the request was sent to. */
  readonly origin: string
  /** Operations that this request started. The id of the first one becomes the `Operation-Id` header. */
  readonly started: number[]
}

/** A contract of the API. The route, validation, OpenAPI entry, permission and client type all derive from it. */
export interface Endpoint {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` placeholders, as in the API description. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** `'public'`, or a value that the application's access table understands. */
  readonly access: unknown
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  /** Whether it also accepts form bodies (the token endpoints). */
  readonly form?: boolean
  /** Whether it accepts any body. A body that is not a JSON object counts as no body. */
  readonly anyBody?: boolean
  /**
   * Set if the body is the unread bytes of a file instead of JSON. `prepare` receives them as `content` and must read
   * them. It has no `Idempotency-Key`, because the length already stored shows whether a piece has arrived.
   */
  readonly upload?: { readonly mostBytes: number }
  readonly status?: 200 | 201
  /** The schema of `data`. */
  readonly response: TSchema
  readonly paged?: boolean
  /** The schema of errors that are not in the envelope (RFC 6749 §5.2), and the form of a problem in it. */
  readonly failure?: {
    readonly schema: TSchema
    readonly headers?: Record<string, string>
    readonly body: (problem: Problem) => object
  }
  /**
   * Runs before the transaction of a change, for slow work that depends on other systems. Its result is `prepared` in
   * the context of the handler, which decides. Permissions are checked before both. It must not change the resource
   * that the request is about.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for `handle`
  readonly prepare?: (context: any, input: any) => Promise<unknown>
  /**
   * Runs after the commit, before the response is sent. It waits for work that the change has started and whose outcome
   * the client must know. Throws a Problem when that work fails.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for `handle`
  readonly afterCommit?: (context: any) => Promise<void>
  /** The form of the response: in the envelope (default), bare JSON, or a stream that the handler writes. */
  readonly style?: 'envelope' | 'bare' | 'stream'
  /** Whether this POST only reads (searches, logs). It has no transaction other than that of an `Idempotency-Key`. */
  readonly reads?: boolean
  /** Whether this GET changes something, as the API's description defines it. It runs in a transaction. */
  readonly writes?: boolean
  /**
   * Whether it answers with an event stream if the client requests one. The handler then returns the `response` that it
   * has written.
   */
  readonly mayStream?: boolean
  /** The content type of a stream, or its possible content types. */
  readonly contentType?: string | readonly string[]
  /** Whether clients can request parts of the stream (RFC 9110 §14). */
  readonly ranges?: boolean
  /** Whether this GET of one resource has `ETag` and `If-None-Match`. */
  readonly etag?: boolean
  /**
   * Whether it needs a recent confirmation of identity in the browser, because it cannot be undone or shows a secret.
   */
  readonly proof?: boolean
  /** Whether it starts background work, so that `Operation-Id` is described. */
  readonly starts?: boolean
  /** The rate class. `address` counts by client address, before any authentication. */
  readonly rate?: 'application' | 'address'
  /** The problems beyond those that every endpoint can have. */
  readonly problems?: readonly ProblemKind[]
  // biome-ignore lint/suspicious/noExplicitAny: the typed form is what `endpoint()` of the resources checks
  handle(context: any, input: any): Promise<unknown>
}

const special = Symbol('reply')

/** Data with its own message, or with its page. */
export interface SpecialReply {
  readonly [special]: true
  readonly data: unknown
  readonly message?: string
  readonly page?: Page
  readonly headers?: Record<string, string>
  /** A status other than the endpoint's own (bare responses only). */
  readonly status?: number
}

/** Builds the result of a handler that returns more than `data`. */
export function reply(data: unknown, extra: Partial<Pick<SpecialReply, 'message' | 'page' | 'headers' | 'status'>>) {
  return { [special]: true, data, ...extra } as SpecialReply
}

export const isSpecialReply = (value: unknown): value is SpecialReply =>
  typeof value === 'object' && value !== null && special in value
