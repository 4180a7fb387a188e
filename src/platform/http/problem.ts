/** A kind of failure that the client is told. Declared by whoever throws it: see {@link declareProblems}. */
export interface ProblemKind<Text extends string = string> {
  /** What people and programs know it by: it stays for ever. */
  readonly code: string
  readonly status: number
  /** Public: what is wrong and what to do, never what is inside. What differs stands in braces. */
  readonly text: Text
  /** For `docs/errors.md`: what to do, in a sentence or two. */
  readonly remedy: string
}

/** Declares problems by their codes. A text that names a field (`name: …`) is about the input, others about a rule or a state. */
export function declareProblems<const Table extends Record<string, Omit<ProblemKind, 'code'>>>(table: Table) {
  const entries = Object.entries(table).map(([code, kind]) => [code, { code, ...kind }] as const)
  return Object.fromEntries(entries) as { readonly [Code in keyof Table]: ProblemKind<Table[Code]['text']> }
}

/** Those of the API itself, whatever it serves. */
export const problems = declareProblems({
  invalid_input: {
    status: 400,
    text: '{faults}',
    remedy: 'Correct the fields that `errors` names.',
  },
  invalid_json: {
    status: 400,
    text: 'The request body is not valid JSON: {reason} (line {line}, column {column}).',
    remedy: 'Look at that place of the body; build bodies with a JSON library.',
  },
  invalid_form: {
    status: 400,
    text: 'The form in the request body cannot be read, or is larger than it may be.',
    remedy: 'Send plain fields, without files; let the HTTP library write the form.',
  },
  not_found: {
    status: 404,
    text: 'We could not locate the requested resources.',
    remedy: 'Check path and id. It is also the answer for what the caller may not see.',
  },
  unknown_path: {
    status: 404,
    text: 'The API has no path {path}: look at /docs.',
    remedy: '`/docs` and `/openapi.json` list all paths.',
  },
  missing_version: {
    status: 404,
    text: 'Paths of the API begin with /v1: /v1{path}.',
    remedy: 'Add `/v1` to the base address of the client. Only `/auth/…` has no version.',
  },
  method_not_allowed: {
    status: 405,
    text: 'This path does not support {method}; use {allowed}.',
    remedy: 'Use one of the methods in `Allow`.',
  },
  idempotency_in_progress: {
    status: 409,
    text: 'The first request with this Idempotency-Key is still running. Try again in a moment.',
    remedy: 'Repeat it with the same key after `Retry-After` seconds.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was used with another request. Use a new key for a new request.',
    remedy: 'Take a new key for each new request.',
  },
  invalid_idempotency_key: {
    status: 400,
    text: 'Idempotency-Key: must be 1 to 255 printable ASCII characters.',
    remedy: 'A UUID is a good key.',
  },
  idempotency_keys_exhausted: {
    status: 429,
    text: 'This application has {keys} Idempotency-Keys of the last 24 hours, more than are kept. Wait until the oldest are forgotten, or send no key.',
    remedy:
      'An application may have 100,000 keys, and 256 MiB of answers kept with them. Send keys with changes only, one for each.',
  },
  body_too_large: {
    status: 413,
    text: 'The request body is larger than the {limit} that this operation takes.',
    remedy: 'Send less.',
  },
  invalid_http: {
    status: 400,
    text: 'The request is not valid HTTP.',
    remedy: 'Send it with an HTTP library; with TLS only where the address begins with `https`.',
  },
  head_too_large: {
    status: 431,
    text: 'The headers of the request are larger than the 16 kB that they may be.',
    remedy: 'Send fewer or shorter headers; parameters of a GET count in its body, too.',
  },
  request_timeout: {
    status: 408,
    text: 'The request took too long to arrive.',
    remedy: 'Send it again.',
  },
  unsupported_media_type: {
    status: 415,
    text: 'Send the request body as application/json.',
    remedy: 'Set `Content-Type: application/json`; the token operations take forms too.',
  },
  rate_limited: {
    status: 429,
    text: 'Too many requests. Try again in {seconds} s.',
    remedy: 'Wait `Retry-After` seconds; `RateLimit` shows what is left before it comes to this.',
  },
  too_many_streams: {
    status: 429,
    text: 'Too many event streams are open: {limit} of this application, or all that there may be. Close one, or ask from time to time instead.',
    remedy: 'Close streams that you no longer need; `GET /v1/operations/{id}` and `GET /v1/events` tell the same.',
  },
  too_many_bodies: {
    status: 429,
    text: 'Too much is being sent from your address at once, or from all addresses. Wait for answers before you send more.',
    remedy:
      '16 MB of bodies may be on their way from one address. Send fewer requests at once, and repeat this one after `Retry-After` seconds.',
  },
  too_many_waiting: {
    status: 503,
    text: 'This connection has too many requests waiting.',
    remedy: 'Send the next request of a connection after the answer to the one before, or use more connections.',
  },
  internal: {
    status: 500,
    text: 'Something went wrong on our side. The request id helps to find out what.',
    remedy: 'Try again; give the operator the `X-Request-Id`, whose log line has the cause.',
  },
  disk_full: {
    status: 507,
    text: 'The disk of this Stead is full: nothing could be written. Reading works; delete what is not needed.',
    remedy:
      'Try again after `Retry-After`. Operators: make room on the disk of the data folder or the database; `/readyz` shows what is free.',
  },
  unavailable: {
    status: 503,
    text: 'Stead cannot answer right now. Try again in a moment.',
    remedy: 'Try again after `Retry-After` seconds. Operators: the database cannot be reached.',
  },
  outcome_unknown: {
    status: 503,
    text: 'The connection to the database was lost while the change was stored: whether it was made is not known. Look before you repeat it; with an Idempotency-Key it can be repeated at any time.',
    remedy: 'With an `Idempotency-Key`: repeat it with the same key. Without: read what it should have changed first.',
  },
})

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

/** What fills the braces of a problem's text. */
export type ProblemValues<Text extends string> = Record<Placeholders<Text>, string | number>

const invalidInputMessage = 'There was a problem processing your request.'

/** A failure that the client is told. What must stay inside goes into `cause`, which is logged. */
export class Problem<Text extends string = string> extends Error {
  readonly code: string
  readonly status: number
  /** Public, one entry a fault. */
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
   * The envelope's `message`: one text for all invalid input, one for all that is not there, the problem's own sentence for what a rule or a state
   * forbids. Input is what the client can send otherwise: texts that name its field, and what cannot be read at all.
   */
  get publicMessage(): string {
    if (this.status === 404) return problems.not_found.text
    const isInput = this.status === 400 && (/^invalid_/.test(this.code) || /^[\w-]+: /.test(this.#text))
    return isInput ? invalidInputMessage : this.message
  }
}

/** The envelope of an error. */
export function errorBody(problem: Problem): { message: string; data: null; errors: string[]; code: string } {
  return { message: problem.publicMessage, data: null, errors: problem.errors, code: problem.code }
}

/** Invalid input, one entry a fault, each naming its field (`name: must be at least 4 characters`). */
export function invalidInput(faults: string[]): Problem {
  return new Problem(problems.invalid_input, { faults: faults.join('; ') }, { errors: faults })
}

export const notFound = (): Problem => new Problem(problems.not_found, {})
