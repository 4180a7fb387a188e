import { ConnectionError, retryAfterSeconds } from './errors.ts'
import { pause } from './pause.ts'
import type { Tokens } from './tokens.ts'

/** Another try may be answered otherwise; with its key the work is done once. */
const worthAnotherTry = [429, 502, 503, 504]
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 8000
/** Who is asked to wait for longer is told so. */
const LONGEST_ASKED_PAUSE_S = 60

export type Send = (request: Request) => Promise<Response>

export interface SendOptions {
  readonly fetch: typeof fetch
  /** Tries after the first. */
  readonly retries: number
}

/** Sends again what had no answer, or one that says to. @throws ConnectionError, or the reason of the request's signal */
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

/** 409 with a time to wait is the first try, which is still at work. */
const isWorthAnotherTry = ({ status }: Response, asked: number | undefined): boolean =>
  (worthAnotherTry.includes(status) || (status === 409 && asked !== undefined)) && (asked ?? 0) <= LONGEST_ASKED_PAUSE_S

/** Longer each time, and not the same for all who were cut off together. */
const backOffMs = (tried: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tried) * (0.5 + Math.random() / 2)

/** fetch hides why behind `fetch failed`. */
const reasonOf = (error: Error): string => {
  const { cause } = error
  return cause instanceof Error ? cause.message || (cause as { code?: string }).code || error.message : error.message
}

/** Each request with a token, each change with a key; a token that is refused is replaced once. */
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
