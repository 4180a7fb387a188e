import type { TObject, TSchema } from 'typebox'
import type { Tx } from '../db/database.ts'
import type { Problem, ProblemKind } from './problem.ts'
import type { Page } from './schemas.ts'

/** Who calls; the resources add what they need. */
export interface CallerFacts {
  readonly applicationId: number
}

/** What is recorded about a request. */
export interface RequestFacts {
  readonly id: string
  readonly ipAddress: string
  readonly userAgent: string
  readonly headers: Record<string, string | string[] | undefined>
}

/** What every handler gets; `access` adds its part (see `Platform.authorize`). */
export interface BaseContext {
  readonly tx: Tx
  /** Milliseconds UTC: one reading of the clock for the whole request. */
  readonly now: number
  readonly request: RequestFacts
  /** Scheme, name and port under which the client, or a proxy that is trusted, says that it asked. */
  readonly origin: string
  /** Operations started by this request: the first one's id becomes the `Operation-Id` header. */
  readonly started: number[]
}

/** A contract of the API: route, validation, OpenAPI entry, permission and client type all derive from it. */
export interface Endpoint {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` placeholders, as in the API description. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** `'public'`, or what the application's access table understands. */
  readonly access: unknown
  readonly params?: TObject
  readonly query?: TObject
  readonly body?: TObject
  /** Form bodies are taken too (the token endpoints). */
  readonly form?: boolean
  /** Whatever is sent as a body is taken; what is no JSON object counts as none. */
  readonly anyBody?: boolean
  /**
   * The body is no JSON but the bytes of a file, which nobody has read yet: `prepare` takes them as `content` and is what reads them. Without
   * `Idempotency-Key`: what was taken of a file says whether it is there.
   */
  readonly upload?: { readonly mostBytes: number }
  readonly status?: 200 | 201
  /** Schema of `data`. */
  readonly response: TSchema
  readonly paged?: boolean
  /** Schema of errors where they do not come in the envelope (RFC 6749 §5.2), and how a problem looks in it. */
  readonly failure?: {
    readonly schema: TSchema
    readonly headers?: Record<string, string>
    readonly body: (problem: Problem) => object
  }
  /**
   * Runs before the transaction of a change, for what takes its time and is asked of others: what it returns is `prepared` in the context of
   * the handler, which decides. What may be done is checked before both. It changes nothing that the request is about.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for `handle`
  readonly prepare?: (context: any, input: any) => Promise<unknown>
  /**
   * Runs after the commit, before the response leaves: waits for work that the change has started and whose outcome the
   * client is told. Throws a Problem when it failed.
   */
  // biome-ignore lint/suspicious/noExplicitAny: as for `handle`
  readonly afterCommit?: (context: any) => Promise<void>
  /** How the response leaves: in the envelope (default), bare JSON, or written by the handler itself as a stream. */
  readonly style?: 'envelope' | 'bare' | 'stream'
  /** A POST that only reads (searches, logs): no transaction but that of an `Idempotency-Key`. */
  readonly reads?: boolean
  /** A GET that changes something all the same, as the API's description has it: a transaction. */
  readonly writes?: boolean
  /** Answers with a stream of events where the client asks for one: the handler returns the `response` that it has written. */
  readonly mayStream?: boolean
  /** Of a stream: what it is, or may be. */
  readonly contentType?: string | readonly string[]
  /** A stream that can be had in parts (RFC 9110 §14). */
  readonly ranges?: boolean
  /** GET of one resource: `ETag`, `If-None-Match`. */
  readonly etag?: boolean
  /** Cannot be taken back, or shows a secret: a person in a browser has shown lately who it is. */
  readonly proof?: boolean
  /** Starts background work: `Operation-Id` is described. */
  readonly starts?: boolean
  /** Rate class; `address` counts by client address before any authentication. */
  readonly rate?: 'application' | 'address'
  /** Beyond those that every endpoint can have. */
  readonly problems?: readonly ProblemKind[]
  // biome-ignore lint/suspicious/noExplicitAny: the typed form is what `endpoint()` of the resources checks
  handle(context: any, input: any): Promise<unknown>
}

const special = Symbol('reply')

/** Data with a message of its own, or with its page. */
export interface SpecialReply {
  readonly [special]: true
  readonly data: unknown
  readonly message?: string
  readonly page?: Page
  readonly headers?: Record<string, string>
  /** Another status than the endpoint's own (bare responses only). */
  readonly status?: number
}

/** Lets a handler return more than `data`. */
export function reply(data: unknown, extra: Partial<Pick<SpecialReply, 'message' | 'page' | 'headers' | 'status'>>) {
  return { [special]: true, data, ...extra } as SpecialReply
}

export const isSpecialReply = (value: unknown): value is SpecialReply =>
  typeof value === 'object' && value !== null && special in value
