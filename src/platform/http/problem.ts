/**
 * Everything that can go wrong for a client, in one place: code → status and text. `docs/errors.md` explains each.
 * Texts are public: they say what is wrong and what to do, never what is inside.
 */
const catalogue = {
  invalid_input: { status: 400, text: '{faults}' },
  invalid_json: { status: 400, text: 'The request body is not valid JSON: {reason} (line {line}, column {column}).' },
  invalid_form: { status: 400, text: 'The form in the request body cannot be read, or is larger than it may be.' },
  name_taken: { status: 400, text: 'name: "{name}" is already taken.' },
  name_reserved: { status: 400, text: 'name: "{name}" is reserved; choose another.' },
  site_limit_reached: {
    status: 400,
    text: 'The plan {plan} allows {limit} {kind} sites, and the account has as many. Delete one, or attach an add-on.',
  },
  addon_in_use: {
    status: 400,
    text: 'quantity: with {quantity} of the add-on {addon} the account may have {maxBillable} live and {maxStaging} staging sites, and it has {billable} and {staging}. Delete sites first.',
  },
  plan_lacks_multisite: { status: 400, text: 'multisite_support: the plan {plan} does not include multisite support.' },
  unknown_datacenter: { status: 400, text: 'datacenter_code: must be one of {codes}.' },
  no_host: { status: 503, text: 'No host is ready to take a site in {datacenter}. Try again in a minute.' },
  site_not_disabled: { status: 400, text: 'Only disabled sites can be enabled; this site is {state}.' },
  site_not_live: { status: 400, text: 'The site must be live for this; it is {state}.' },
  edge_cache_off: { status: 400, text: 'Defensive mode needs the edge cache. Switch the edge cache on first.' },
  collaborator_exists: { status: 400, text: 'email: {email} is a collaborator of this site already.' },
  collaborator_is_owner: { status: 400, text: 'email: {email} owns the site and cannot be its collaborator.' },
  own_collaboration: { status: 400, text: 'email: you cannot change your own roles.' },
  collaborator_lacks_wp_access: {
    status: 400,
    text: 'The collaborator has no WordPress user: it needs the role wp_access.',
  },
  operation_not_cancelable: { status: 400, text: 'The operation is {state} and can no longer be canceled.' },
  operation_not_retryable: {
    status: 400,
    text: 'Only failed or canceled operations can be retried; this one is {state}.',
  },
  operation_superseded: { status: 400, text: 'The site of this operation no longer exists.' },
  site_unavailable: { status: 503, text: 'The site does not answer right now: {reason}. Try again in a minute.' },
  note_limit_reached: {
    status: 400,
    text: 'A site may have {notes} notes, which may have {megabytes} MB together. Delete notes first.',
  },
  tag_limit_reached: {
    status: 400,
    text: 'tag_names: an account may have {ofAccount} tags, and {ofSite} of them on one site. Remove tags first.',
  },
  collaborator_limit_reached: {
    status: 400,
    text: 'email: {what} may have {limit} collaborators. Remove one first.',
  },
  operation_limit_reached: {
    status: 429,
    text: 'Too much is waiting to be done already: {limit} operations. Wait until some of it has ended.',
  },
  mail_limit_reached: {
    status: 429,
    text: 'This change would send a mail, and your account had {limit} sent within the last hour. Try again later.',
  },
  unauthorized: { status: 401, text: 'The access token is missing. Send it as Authorization: Bearer <token>.' },
  invalid_token: { status: 401, text: 'The access token is unknown, expired or revoked. Request a new one.' },
  forbidden: { status: 403, text: 'You need the role {role} on this site for this operation.' },
  insufficient_scope: { status: 403, text: 'This operation needs an API application with account owner permission.' },
  not_found: { status: 404, text: 'We could not locate the requested resources.' },
  method_not_allowed: { status: 405, text: 'This path does not support {method}; use {allowed}.' },
  idempotency_in_progress: {
    status: 409,
    text: 'The first request with this Idempotency-Key is still running. Try again in a moment.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was used with another request. Use a new key for a new request.',
  },
  invalid_idempotency_key: { status: 400, text: 'Idempotency-Key: must be 1 to 255 printable ASCII characters.' },
  idempotency_keys_exhausted: {
    status: 429,
    text: 'This application has {keys} Idempotency-Keys of the last 24 hours, more than are kept. Wait until the oldest are forgotten, or send no key.',
  },
  body_too_large: { status: 413, text: 'The request body is larger than the {limit} that this operation takes.' },
  unsupported_media_type: { status: 415, text: 'Send the request body as application/json.' },
  rate_limited: { status: 429, text: 'Too many requests. Try again in {seconds} s.' },
  too_many_streams: {
    status: 429,
    text: 'Too many event streams are open: {limit} of this application, or all that there may be. Close one, or read the operation itself from time to time.',
  },
  too_many_bodies: {
    status: 429,
    text: 'Too much is being sent from your address at once, or from all addresses. Wait for answers before you send more.',
  },
  internal: { status: 500, text: 'Something went wrong on our side. The request id helps to find out what.' },
  disk_full: {
    status: 507,
    text: 'The disk of this Stead is full: nothing could be written. Reading works; delete what is not needed.',
  },
  unavailable: { status: 503, text: 'Stead cannot answer right now. Try again in a moment.' },
  outcome_unknown: {
    status: 503,
    text: 'The connection to the database was lost while the change was stored: whether it was made is not known. Look before you repeat it; with an Idempotency-Key it can be repeated at any time.',
  },
} as const satisfies Record<string, { status: number; text: string }>

/** The name of a problem in the catalogue. */
export type ProblemCode = keyof typeof catalogue

type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never

/** What fills the braces of a problem's text. */
export type ProblemValues<Code extends ProblemCode> = Record<
  Placeholders<(typeof catalogue)[Code]['text']>,
  string | number
>

const invalidInputMessage = 'There was a problem processing your request.'

/** A failure that the client is told. What must stay inside goes into `cause`, which is logged. */
export class Problem<Code extends ProblemCode = ProblemCode> extends Error {
  readonly code: Code
  readonly status: number
  /** Public, one entry a fault. */
  readonly errors: string[]
  readonly headers: Record<string, string>

  constructor(
    code: Code,
    values: ProblemValues<Code>,
    options: { cause?: unknown; errors?: string[]; headers?: Record<string, string> } = {},
  ) {
    const { status, text } = catalogue[code]
    const filled = text.replace(/\{(\w+)\}/g, (_, name) => String((values as Record<string, unknown>)[name]))
    super(filled, { cause: options.cause })
    this.code = code
    this.status = status
    this.errors = options.errors ?? [filled]
    this.headers = options.headers ?? {}
  }

  /**
   * The envelope's `message`: one text for all invalid input, the problem's own sentence for what a rule or a state forbids. Input is what the
   * client can send otherwise: texts that name its field, and what cannot be read at all.
   */
  get publicMessage(): string {
    const isInput = this.status === 400 && (/^invalid_/.test(this.code) || /^[\w-]+: /.test(catalogue[this.code].text))
    return isInput ? invalidInputMessage : this.message
  }
}

/** Invalid input, one entry a fault, each naming its field (`name: must be at least 4 characters`). */
export function invalidInput(faults: string[]): Problem<'invalid_input'> {
  return new Problem('invalid_input', { faults: faults.join('; ') }, { errors: faults })
}

export const notFound = (): Problem<'not_found'> => new Problem('not_found', {})

/** Code, status and text of every problem, for the documentation and its test. */
export function allProblems(): { code: ProblemCode; status: number; text: string }[] {
  return Object.entries(catalogue).map(([code, { status, text }]) => ({ code: code as ProblemCode, status, text }))
}

export const statusOf = (code: ProblemCode): number => catalogue[code].status
