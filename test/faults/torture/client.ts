import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Stead } from '../../support/stead.ts'
import type { ExpectedEntry, Ledger, Outcome, Write } from './ledger.ts'

/** Longer than a part is stopped for; what takes longer counts as not answered. */
const ANSWER_MS = 30_000
/** So long a keyed request is sent again: a claim whose process was killed is held for a minute, and starts take their time. */
const PATIENCE_MS = 240_000

export interface Answer {
  /** 0: none. */
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

/** A client of the API as it should be written: with a key it sends again until it has an answer, without one never. */
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

  /** One request, with a fresh token where the old one has run out. */
  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const token = await this.#currentToken()
      const answer = token === undefined ? none : await this.#send(method, path, body, headers, token)
      this.#ledger.answered('api', answer.status, retryNote(answer))
      if (answer.status !== 401 || attempt > 0) return answer
      this.#token = undefined
    }
  }

  /** A change; kept in the ledger with what became of it. */
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

  /** Some answered requests are sent once more: the same answer, and (the checks see to it) no second effect. */
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

/** Another try with the same key may get an answer: none yet, a failure, or the first try is still under way. */
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

/** It has no `Retry-After` on purpose: programs repeat what says when to repeat it. */
const isUnknownOutcome = (body: { message?: string } | undefined): boolean =>
  body?.message?.includes('the change may or may not be saved') === true
