/** A kind of failure that the client can see. The module that throws it declares it: see {@link declareProblems}. */
export interface ProblemKind<Text extends string = string> {
  /** The name that people and programs know it by. It never changes. */
  readonly code: string
  readonly status: number
  /** Public text: says what is wrong and what to do, never internal details. Variable parts are in braces. */
  readonly text: Text
  /** The advice for `docs/errors.md`, in a sentence or two. */
  readonly remedy: string
}

/**
 * Declares problems by their codes. A text that names a field (`name: …`) is about the input. Others are about a rule
 * or a state.
 */
export function declareProblems<const Table extends Record<string, Omit<ProblemKind, 'code'>>>(table: Table) {
  const entries = Object.entries(table).map(([code, kind]) => [code, { code, ...kind }] as const)
  return Object.fromEntries(entries) as { readonly [Code in keyof Table]: ProblemKind<Table[Code]['text']> }
}

/** The problems of the API itself, whatever it serves. */
export const httpProblems = declareProblems({
  invalid_input: {
    status: 400,
    text: '{faults}',
    remedy: 'Correct the fields named in `errors`.',
  },
  invalid_json: {
    status: 400,
    text: 'The request body is not valid JSON: {reason} (line {line}, column {column}).',
    remedy: 'Correct the body at that position. Use a JSON library to create request bodies.',
  },
  invalid_form: {
    status: 400,
    text: 'The form in the request body cannot be read or is too large. Send a smaller form with plain fields.',
    remedy: 'Send plain fields without files. Use an HTTP library to encode the form.',
  },
  not_found: {
    status: 404,
    text: 'We could not locate the requested resources.',
    remedy: 'Check the path and the id. Stead also returns this error for resources that you are not allowed to see.',
  },
  unknown_path: {
    status: 404,
    text: 'The API has no path {path}. See /docs for all paths.',
    remedy: 'Correct the path. `/docs` and `/openapi.json` list all paths.',
  },
  missing_version: {
    status: 404,
    text: 'API paths start with /v1. Use /v1{path}.',
    remedy: 'Add `/v1` to the base URL of your client. Only `/auth/…` has no version.',
  },
  method_not_allowed: {
    status: 405,
    text: 'This path does not support {method}. Use {allowed}.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  idempotency_in_progress: {
    status: 409,
    text: 'The first request with this Idempotency-Key is still running. Try again in a moment.',
    remedy: 'Repeat the request with the same key after `Retry-After` seconds.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was already used with another request. Use a new key for each new request.',
    remedy: 'Use a new key for each new request.',
  },
  invalid_idempotency_key: {
    status: 400,
    text: 'Idempotency-Key: must be 1 to 255 printable ASCII characters.',
    remedy: 'Use a UUID as the key.',
  },
  idempotency_keys_exhausted: {
    status: 429,
    text: 'This application used {keys} Idempotency-Keys in the last 24 hours, which is the limit. Wait until the oldest keys expire, or send no key.',
    remedy:
      'Stead keeps up to 100,000 keys and 256 MiB of responses for an application. Send a key only with requests that change something, and one key per change.',
  },
  body_too_large: {
    status: 413,
    text: 'The request body is larger than {limit}, the limit of this operation. Send a smaller body.',
    remedy: 'Send a smaller body, or split the request.',
  },
  invalid_http: {
    status: 400,
    text: 'The request is not valid HTTP.',
    remedy: 'Use an HTTP library. Use TLS only with addresses that start with `https`.',
  },
  head_too_large: {
    status: 431,
    text: 'The request headers are larger than 16 kB. Send fewer or shorter headers.',
    remedy: 'Send fewer or shorter headers. You can send the parameters of a GET request in its body instead.',
  },
  request_timeout: {
    status: 408,
    text: 'The request took too long to arrive. Send it again.',
    remedy: 'Send the request again. If this repeats, check your network connection.',
  },
  unsupported_media_type: {
    status: 415,
    text: 'Send the request body as application/json.',
    remedy:
      'Set `Content-Type: application/json`. The token operations also accept forms. Compressed bodies (`Content-Encoding`) are not accepted.',
  },
  rate_limited: {
    status: 429,
    text: 'Too many requests. Try again in {seconds} s.',
    remedy: 'Wait `Retry-After` seconds. The `RateLimit` header shows how many requests you have left.',
  },
  too_many_streams: {
    status: 429,
    text: 'Too many event streams are open: this application has {limit}, or the whole installation reached its limit. Close a stream, or poll instead.',
    remedy:
      'Close streams that you no longer need. You can poll `GET /v1/operations/{id}` and `GET /v1/events` instead.',
  },
  too_many_bodies: {
    status: 429,
    text: 'Too many request bodies are in transit from your address, or from all addresses. Wait for responses before you send more.',
    remedy:
      'One address can have 16 MB of request bodies in transit. Send fewer requests at once, and repeat this request after `Retry-After` seconds.',
  },
  too_many_waiting: {
    status: 503,
    text: 'Too many requests are waiting on this connection. Wait for responses before you send more.',
    remedy: 'Wait for the response before you send the next request on a connection, or use more connections.',
  },
  internal: {
    status: 500,
    text: 'Something went wrong on our side. Try again, and give the request id to your operator if it happens again.',
    remedy:
      'Try again. If the error remains, give the `X-Request-Id` to your operator, who can find the cause in the log.',
  },
  disk_full: {
    status: 507,
    text: "The server's disk is full, so nothing was changed. You can still read. Delete data that you do not need, or ask your operator for more space.",
    remedy:
      'Try again after `Retry-After` seconds. Operators: free space on the disk of the data folder or the database. `/readyz` shows the free space.',
  },
  unavailable: {
    status: 503,
    text: 'Stead cannot respond right now. Try again in a moment.',
    remedy: 'Try again after `Retry-After` seconds. Operators: check that Stead can reach its database.',
  },
  outcome_unknown: {
    status: 503,
    text: 'The connection to the database was lost while Stead saved the change, so the change may or may not be saved. Check before you repeat the request. With an Idempotency-Key, you can repeat it at any time.',
    remedy:
      'If you sent an `Idempotency-Key`, repeat the request with the same key. If not, first read the resource that it should have changed.',
  },
})

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

/** The values for the braces of a problem's text. */
export type ProblemValues<Text extends string> = Record<Placeholders<Text>, string | number>

const invalidInputMessage = 'There was a problem processing your request.'

/** A failure that the client can see. Internal details go into `cause`, which is logged. */
export class Problem<Text extends string = string> extends Error {
  readonly code: string
  readonly status: number
  /** Public, one entry for each fault. */
  readonly errors: string[]
  readonly headers: Record<string, string>
  readonly #text: string

  constructor(
    kind: ProblemKind<Text>,
    values: ProblemValues<Text>,
    options: { cause?: unknown; errors?: string[]; headers?: Record<string, string> } = {},
  ) {
    const { code, status, text } = kind
    const filled = text.replace(/\{(\w+)\}/g, (_, name) => String((values as Record<string, unknown>)[name]))
    super(filled, { cause: options.cause })
    this.code = code
    this.status = status
    this.errors = options.errors ?? [filled]
    this.headers = options.headers ?? {}
    this.#text = text
  }

  /**
   * Returns the envelope's `message`. All invalid input has one text, and everything that does not exist has one. A
   * rule or a state that forbids the request has the problem's own sentence. Invalid input is input that the client
   * could correct: texts that name a field, and unreadable requests.
   */
  get publicMessage(): string {
    if (this.status === 404) return httpProblems.not_found.text
    const isInput = this.status === 400 && (/^invalid_/.test(this.code) || /^[\w-]+: /.test(this.#text))
    return isInput ? invalidInputMessage : this.message
  }
}

/** Returns the envelope of an error. */
export function errorBody(problem: Problem): { message: string; data: null; errors: string[]; code: string } {
  return { message: problem.publicMessage, data: null, errors: problem.errors, code: problem.code }
}

/**
 * Creates a problem for invalid input. It has one entry for each fault, with the name of its field (`name: must be at
 * least 4 characters`).
 */
export function invalidInput(faults: string[]): Problem {
  return new Problem(httpProblems.invalid_input, { faults: faults.join('; ') }, { errors: faults })
}

export const notFound = (): Problem => new Problem(httpProblems.not_found, {})
