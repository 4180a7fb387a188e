import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Stead } from '../../support/stead.ts'
import type { ExpectedEntry, Ledger, Outcome, Write } from './ledger.ts'

/** Longer than a stop of a process. Slower responses count as unanswered. */
const ANSWER_MS = 30_000
/** How long a request with a key is repeated: a claim of a killed process lasts a minute, and starts take time. */
const PATIENCE_MS = 240_000

export interface Answer {
  /** 0: no response. */
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: whatever the operation answers
  readonly body: any
}

export interface Intent {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly keyed: boolean
  readonly entry?: ExpectedEntry
}

/**
 * A well-written client of the API: with a key it repeats a request until it has a response, without one it never
 * repeats.
 */
export class Client {
  readonly #stead: Stead
  readonly #ledger: Ledger
  #token: Promise<string> | undefined

  constructor(stead: Stead, ledger: Ledger) {
    this.#stead = stead
    this.#ledger = ledger
  }

  get ledger(): Ledger {
    return this.#ledger
  }

  /** Sends one request, with a new token when the old one has expired. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const token = await this.#currentToken()
      const answer = token === undefined ? none : await this.#send(method, path, body, headers, token)
      this.#ledger.answered('api', answer.status, retryNote(answer))
      if (answer.status !== 401 || attempt > 0) return answer
      this.#token = undefined
    }
  }

  /** Sends a change, and records its outcome in the ledger. */
  async write(intent: Intent): Promise<Write> {
    const key = intent.keyed ? randomUUID() : undefined
    const deadline = performance.now() + PATIENCE_MS
    let attempts = 0
    let answer = none
    do {
      if (attempts++ > 0) await pause(300)
      answer = await this.ask(intent.method, intent.path, intent.body, key ? { 'idempotency-key': key } : {})
    } while (key && isUndecided(answer) && performance.now() < deadline)
    const { what, method, path, body, entry } = intent
    const outcome = outcomeOf(answer)
    const write = {
      what,
      key,
      method,
      path,
      body,
      entry,
      attempts,
      outcome,
      status: answer.status,
      data: answer.body?.data,
    }
    this.#ledger.writes.push(write)
    if (key && outcome !== 'unknown' && attempts === 1) await this.#replay(write)
    return write
  }

  /**
   * Repeats some answered requests: the response must be the same, without a second effect (which the checks verify).
   */
  async #replay(write: Write): Promise<void> {
    if (this.#ledger.writes.length % 4 !== 0) return
    const again = await this.ask(write.method, write.path, write.body, { 'idempotency-key': write.key as string })
    if (isUndecided(again)) return
    this.#ledger.replays++
    const [first, second] = [write.data, again.body?.data].map((data) => JSON.stringify(data))
    if (again.status !== write.status || first !== second)
      this.#ledger.wrongReplays.push(
        `${write.method} ${write.path}: ${write.status} ${first}, then ${again.status} ${second}`,
      )
  }

  async #send(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
    token: string,
  ): Promise<Answer> {
    try {
      const response = await fetch(`${this.#stead.apiUrl}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    } catch {
      return none
    }
  }

  async #currentToken(): Promise<string | undefined> {
    this.#token ??= this.#freshToken()
    try {
      return await this.#token
    } catch {
      this.#token = undefined
      return undefined
    }
  }

  async #freshToken(): Promise<string> {
    const file = join(this.#stead.dataDir, 'credentials.json')
    const { client_id, client_secret } = JSON.parse(await readFile(file, 'utf8'))
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
    const signal = AbortSignal.timeout(ANSWER_MS)
    const response = await fetch(`${this.#stead.apiUrl}/auth/token`, { method: 'POST', body, signal })
    this.#ledger.answered('token', response.status)
    if (!response.ok) throw new Error(`no token: ${response.status}`)
    return ((await response.json()) as { access_token: string }).access_token
  }
}

const none: Answer = { status: 0, headers: new Headers(), body: null }

/**
 * Another try with the same key may get a response: there is none yet, it failed, or the first try is still running.
 */
function isUndecided({ status, headers }: Answer): boolean {
  return status === 0 || status >= 500 || status === 401 || (status === 409 && headers.has('retry-after'))
}

function outcomeOf(answer: Answer): Outcome {
  if (isUndecided(answer)) return 'unknown'
  return answer.status < 400 ? 'acknowledged' : 'refused'
}

const retryNote = ({ status, headers, body }: Answer): string =>
  status === 503 && !headers.has('retry-after') && !isUnknownOutcome(body)
    ? `without Retry-After: ${body?.message}`
    : ''

/** Lacks `Retry-After` on purpose: programs repeat a request whose response has one. */
const isUnknownOutcome = (body: { message?: string } | undefined): boolean =>
  body?.message?.includes('the change may or may not be saved') === true
