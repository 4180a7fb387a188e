import { ConnectionError, retryAfterSeconds } from './errors.ts'
import { pause } from './pause.ts'
import type { Tokens } from './tokens.ts'

/** A retry may get another answer. Its key makes sure that the work is done once. */
const worthAnotherTry = [429, 502, 503, 504]
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000
/** A longer wait is reported to the caller. */
const LONGEST_ASKED_PAUSE_S = 60

export type Send = (request: Request) => Promise<Response>

export interface SendOptions {
  readonly fetch: typeof fetch
  /** Retries after the first attempt. */
  readonly retries: number
}

/**
 * Sends a request, and retries it without an answer, or after one that asks for a retry.
 * @throws ConnectionError, or the reason of the request's signal
 */
export function retrying({ fetch, retries }: SendOptions): Send {
  return async (request) => {
    for (let tried = 0; ; tried++) {
      const isLast = tried >= retries
      const answer = await fetch(request.clone()).catch((error: unknown) => error as Error)
      if (request.signal.aborted) throw request.signal.reason
      if (!(answer instanceof Response)) {
        if (isLast)
          throw new ConnectionError(`${new URL(request.url).origin} does not answer: ${reasonOf(answer)}`, {
            cause: answer,
          })
        await pause(backOffMs(tried), request.signal)
        continue
      }
      const asked = retryAfterSeconds(answer)
      if (isLast || !isWorthAnotherTry(answer, asked)) return answer
      await answer.body?.cancel()
      await pause(asked === undefined ? backOffMs(tried) : asked * 1000, request.signal)
    }
  }
}

/** 409 with a Retry-After means that the first attempt is still running. */
const isWorthAnotherTry = ({ status }: Response, asked: number | undefined): boolean =>
  (worthAnotherTry.includes(status) || (status === 409 && asked !== undefined)) && (asked ?? 0) <= LONGEST_ASKED_PAUSE_S

/** Grows with each attempt, and differs among clients that lost their connections together. */
const backOffMs = (tried: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tried) * (0.5 + Math.random() / 2)

/** fetch hides the reason behind `fetch failed`. */
const reasonOf = (error: Error): string => {
  const { cause } = error
  return cause instanceof Error ? cause.message || (cause as { code?: string }).code || error.message : error.message
}

/** Adds a token to each request, and a key to each change. Replaces a refused token once. */
export function authorized(send: Send, tokens: Tokens): Send {
  return async (request) => {
    if (request.method !== 'GET' && !request.headers.has('idempotency-key'))
      request.headers.set('idempotency-key', crypto.randomUUID())
    const token = await tokens.get()
    const answer = await send(withToken(request.clone(), token))
    if (answer.status !== 401 || token === undefined || !tokens.refused(token)) return answer
    await answer.body?.cancel()
    return send(withToken(request, await tokens.get()))
  }
}

function withToken(request: Request, token: string | undefined): Request {
  if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`)
  return request
}
