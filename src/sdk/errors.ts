import type { components } from './api.generated.ts'

type Operation = components['schemas']['Operation']

/** The API refused the request. `errors` says what to do. Programs check `code`, which never changes. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** A code of docs/errors.md, or of RFC 6749 for the token endpoints. */
  readonly code: string
  /** One text for each fault. Texts about input begin with the field's name. */
  readonly errors: readonly string[]
  /** Identifies this request in the log of the installation. */
  readonly requestId: string | null
  /** How long the API asks to wait before a retry. */
  readonly retryAfterSeconds: number | undefined

  constructor(response: Response, body: unknown) {
    const { code, message, errors, error, error_description } = (isObject(body) ? body : {}) as Record<string, unknown>
    const texts = Array.isArray(errors)
      ? errors.map(String)
      : [String(error_description ?? message ?? '')].filter(Boolean)
    super(texts.join(' ') || `The API answered ${response.status} ${response.statusText}`.trim())
    this.status = response.status
    this.code = String(code ?? error ?? `http_${response.status}`)
    this.errors = texts.length > 0 ? texts : [this.message]
    this.requestId = response.headers.get('x-request-id')
    this.retryAfterSeconds = retryAfterSeconds(response)
  }
}

/** No answer came within the allowed number of attempts. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** The operation failed or was canceled. The message says why, and `operation` has all its steps. */
export class OperationFailed extends Error {
  override readonly name = 'OperationFailed'
  readonly operation: Operation

  constructor(operation: Operation) {
    super(`${operation.type} ${operation.state}${operation.error ? `: ${operation.error}` : ''}`)
    this.operation = operation
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** RFC 9110 §10.2.3: seconds, or a date. */
export function retryAfterSeconds(response: Response): number | undefined {
  const value = response.headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}
