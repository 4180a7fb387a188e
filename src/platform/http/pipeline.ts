import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressKey } from '../budgets/address-key.ts'
import type { Sealer } from '../crypto/seal.ts'
import { CommitUnknown } from '../db/commit-unknown.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Log } from '../log/log.ts'
import { loggedPath } from './answer-errors.ts'
import { type CallerFacts, type Endpoint, isSpecialReply, type RecordedRequest } from './endpoint.ts'
import {
  type ClaimedRequest,
  claimKey,
  completeClaim,
  type KeyedRequest,
  keepResponse,
  keyedRequest,
  type StoredResponse,
} from './idempotency/idempotency.ts'
import type { KeyLimit } from './idempotency/key-limit.ts'
import { takesKey } from './idempotency/takes-key.ts'
import { LongList, longListText } from './long-list.ts'
import { errorBody, httpProblems, invalidInput, notFound, Problem } from './problem.ts'
import type { RateLimit } from './rate-limit.ts'
import { bodyOf } from './request/body.ts'
import { IGNORED_HEADER, ignoredFields } from './request/ignored-fields.ts'
import { uploadOf } from './request/uploads.ts'
import { check } from './request/validate.ts'

/** The dependencies of the API on the application that it serves. */
export interface Platform<Caller extends CallerFacts> {
  readonly database: Database
  readonly sealer: Sealer
  readonly now: () => number
  readonly rates: { readonly application: RateLimit; readonly address: RateLimit }
  readonly keyLimit: KeyLimit
  /**
   * Returns the caller of a request.
   * @throws Problem when the request does not identify a caller
   */
  authenticate(claims: Claims, nowMs: number): Promise<Caller>
  /**
   * Checks `operation.access` for this caller.
   * @returns additions to the handler's base context, such as the site of the path
   * @throws Problem `not_found`, `forbidden`, `insufficient_scope`
   */
  authorize(endpoint: Endpoint, caller: Caller, input: Input, tx: Tx): Promise<object>
  /**
   * Checks background work that a request has started, in its transaction.
   * @throws Problem when too many operations are queued already
   */
  admit?(operationId: number, tx: Tx): Promise<void>
  /** Added to every handler's context: configuration, logger, clients of other parts. */
  readonly services: object
}

/** The parts of a request that identify the caller. */
export interface Claims {
  readonly headers: FastifyRequest['headers']
  /** See `BaseContext.origin`. */
  origin(): string
  /** Whether the request changes nothing. */
  readonly onlyReads: boolean
}

/** The parts of a request after validation. */
export interface Input {
  readonly params: Record<string, unknown>
  readonly query: Record<string, unknown>
  readonly body: Record<string, unknown>
}

/** Handles a request from start to end: identify the caller, count, validate, authorize, do the work, answer. */
export function routeHandler<Caller extends CallerFacts>(endpoint: Endpoint, platform: Platform<Caller>, log: Log) {
  return async (request: FastifyRequest, response: FastifyReply): Promise<unknown> => {
    const now = platform.now()
    if (endpoint.rate === 'address')
      response.headers(platform.rates.address.count(addressKey(request.client.address), now))
    const caller =
      endpoint.access === 'public' ? undefined : await platform.authenticate(claimsOf(endpoint, request), now)
    if (caller) response.headers(platform.rates.application.count(caller.applicationId, now))
    const call = new Call(endpoint, platform, request, response, caller, now)
    const result = await call.answer()
    if (endpoint.style === 'stream' || result === undefined) return result
    response.code(result.status).headers(result.headers)
    // A bare answer may have no body.
    const data = (result.body as { data?: unknown } | undefined)?.data
    return data instanceof LongList ? partByPart(data, result.body as object, request, response, log) : result.body
  }
}

/**
 * Sends an answer while its list is read. A failure breaks the answer off: its end is missing, which clients detect
 * (RFC 9112 §8).
 */
function partByPart(
  list: LongList,
  body: object,
  request: FastifyRequest,
  response: FastifyReply,
  log: Log,
): FastifyReply {
  const write = (data: readonly unknown[]) => response.serialize({ ...body, data }) as string
  async function* text() {
    try {
      yield* longListText(list, write)
    } catch (error) {
      log.error({ err: error, requestId: request.id, path: loggedPath(request) }, 'a response was interrupted')
      throw error
    }
  }
  // The content of an answer to HEAD is never read.
  const content = request.method === 'HEAD' ? [] : text()
  return response
    .type('application/json; charset=utf-8')
    .send(Readable.from(content, { objectMode: false, highWaterMark: 1 }))
}

const claimsOf = (endpoint: Endpoint, request: FastifyRequest): Claims => ({
  headers: request.headers,
  origin: () => request.publicOrigin(),
  onlyReads: endpoint.reads === true || (endpoint.method === 'GET' && !endpoint.writes),
})

class Call<Caller extends CallerFacts> {
  readonly #endpoint: Endpoint
  readonly #platform: Platform<Caller>
  readonly #request: FastifyRequest
  readonly #response: FastifyReply
  readonly #caller: Caller | undefined
  readonly #now: number
  #context: object | undefined

  constructor(
    endpoint: Endpoint,
    platform: Platform<Caller>,
    request: FastifyRequest,
    response: FastifyReply,
    caller: Caller | undefined,
    now: number,
  ) {
    this.#endpoint = endpoint
    this.#platform = platform
    this.#request = request
    this.#response = response
    this.#caller = caller
    this.#now = now
  }

  /** Validates, then does the work. Reads use the read connection; changes run in one transaction. */
  async answer(): Promise<StoredResponse> {
    const input = await this.#input()
    const { database } = this.#platform
    const { method, writes } = this.#endpoint
    if (method === 'GET' && !writes) return this.#work(database.read, input)
    const key = this.#request.headers['idempotency-key']
    if (this.#caller && typeof key === 'string' && takesKey(this.#endpoint))
      return this.#once(keyedRequest(this.#caller.applicationId, key, [this.#endpoint.id, input]), input)
    if (this.#endpoint.reads) return this.#work(database.read, input)
    const prepared = await this.#prepared(input)
    const response = await database.transaction((tx) => this.#work(tx, input, prepared))
    await this.#endpoint.afterCommit?.(this.#context)
    return response
  }

  async #input(): Promise<Input> {
    const { params, query, body, upload } = this.#endpoint
    const sent = upload ? {} : bodyOf(this.#request)
    const ignored = ignoredFields(this.#endpoint, { query: this.#request.query, body: sent })
    if (ignored) this.#response.header(IGNORED_HEADER, ignored)
    const checkedParams = params ? check(params, this.#request.params) : { value: {} }
    if ('faults' in checkedParams) throw notFound()
    const given = this.#endpoint.anyBody && !isObject(sent) ? {} : sent
    // Parameters of a GET, and flags of a DELETE without any other body, have the same effect in the body.
    const asQuery =
      (this.#endpoint.method === 'GET' || (this.#endpoint.method === 'DELETE' && !body)) && isObject(given)
        ? { ...given, ...(this.#request.query as object) }
        : this.#request.query
    const parts = [query ? check(query, asQuery) : { value: {} }, body ? check(body, given) : { value: {} }] as const
    const faults = parts.flatMap((part) => ('faults' in part ? part.faults : []))
    const input = {
      params: checkedParams.value,
      query: 'value' in parts[0] ? parts[0].value : {},
      body: 'value' in parts[1] ? parts[1].value : {},
    } as Input
    if (faults.length > 0) {
      // The caller must not learn about resources that they may not see, whatever else is wrong with the request.
      if (this.#caller)
        await this.#platform.authorize(
          this.#endpoint,
          this.#caller,
          { ...input, body: {} },
          this.#platform.database.read,
        )
      throw invalidInput(faults)
    }
    return input
  }

  /** Runs the endpoint's preparation, which depends on other systems, before the request holds anything. */
  async #prepared(input: Input): Promise<object> {
    const { prepare } = this.#endpoint
    if (!prepare) return {}
    const { upload } = this.#endpoint
    const context = await this.#contextOf(this.#platform.database.read, input, [])
    const content = upload && uploadOf(this.#request, upload.mostBytes)
    return { prepared: await prepare({ ...context, ...(content && { content }) }, input) }
  }

  /** @throws Problem when the caller may not do this */
  async #contextOf(tx: Tx, input: Input, started: number[]): Promise<object> {
    const endpoint = this.#endpoint
    const extra = this.#caller ? await this.#platform.authorize(endpoint, this.#caller, input, tx) : undefined
    return {
      ...this.#platform.services,
      ...extra,
      tx,
      caller: this.#caller,
      now: this.#now,
      request: this.#facts(),
      origin: this.#request.publicOrigin(),
      started,
      ...(endpoint.style === 'stream' || endpoint.mayStream ? { response: this.#response } : {}),
    }
  }

  async #work(tx: Tx, input: Input, prepared: object = {}): Promise<StoredResponse> {
    const endpoint = this.#endpoint
    const started: number[] = []
    const context = { ...(await this.#contextOf(tx, input, started)), ...prepared }
    this.#context = context
    const result = await endpoint.handle(context, input)
    // To await a Fastify reply would wait for the end of its stream, and then return nothing.
    const isSaid = endpoint.style === 'stream' || (endpoint.mayStream && result === undefined)
    if (isSaid) return result as StoredResponse
    if (started.length > 0) await this.#platform.admit?.(started[0] as number, tx)
    const headers: Record<string, string> = started.length > 0 ? { 'operation-id': String(started[0]) } : {}
    const status = endpoint.status ?? 200
    if (endpoint.style === 'bare')
      return isSpecialReply(result)
        ? { status: result.status ?? status, body: result.data, headers: { ...headers, ...result.headers } }
        : { status, body: result, headers }
    if (!isSpecialReply(result))
      return { status, body: { message: 'Success', data: result ?? null, errors: null }, headers }
    const { data, message = 'Success', page } = result
    return {
      status,
      body: { message, data, errors: null, ...(page ? { page } : {}) },
      headers: { ...headers, ...result.headers },
    }
  }

  #facts(): RecordedRequest {
    const { id, client, headers } = this.#request
    return { id, ipAddress: client.address, userAgent: headers['user-agent'] ?? '', headers }
  }

  async #once(keyed: KeyedRequest, input: Input): Promise<StoredResponse> {
    const { database, sealer, keyLimit } = this.#platform
    const { claim, first } = await claimKey(database, sealer, keyed, this.#now, keyLimit)
    if (first) return this.#replay(first)
    const response = await this.#workOnce({ ...keyed, claim }, input)
    // A failure from here on undoes nothing: a replay waits for the same work.
    await this.#endpoint.afterCommit?.(this.#context)
    return response
  }

  async #workOnce(claimed: ClaimedRequest, input: Input): Promise<StoredResponse> {
    const { database, sealer } = this.#platform
    try {
      // A request that only reads must not block writers while it reads.
      const found = this.#endpoint.reads ? await this.#work(database.read, input) : undefined
      const prepared = await this.#prepared(input)
      return await database.transaction(async (tx) => {
        const done = found ?? (await this.#work(tx, input, prepared))
        await keepResponse(tx, sealer, claimed, done)
        return done
      })
    } catch (error) {
      if (isRefusal(error)) await this.#keepRefusal(claimed, error)
      else return await this.#settled(claimed, error)
      throw error
    }
  }

  /** Stores a refusal, which counts as an answer and is replayed. */
  async #keepRefusal(claimed: ClaimedRequest, refusal: Problem): Promise<void> {
    const { database, sealer } = this.#platform
    const response = { status: refusal.status, body: errorBody(refusal), headers: refusal.headers }
    await database
      .transaction((tx) => keepResponse(tx, sealer, claimed, response))
      .catch((error) => {
        // Nothing of the change was saved, whatever became of the refusal.
        throw error instanceof CommitUnknown ? new Problem(httpProblems.unavailable, {}, { cause: error }) : error
      })
  }

  /**
   * Completes the claim after a failure on our side: the key is free for another try, unless the change was saved
   * anyway.
   * @throws the failure; `outcome_unknown` when the outcome of the change cannot be determined now
   */
  async #settled(claimed: ClaimedRequest, failure: unknown): Promise<StoredResponse> {
    const { database, sealer } = this.#platform
    let kept: StoredResponse | undefined
    try {
      kept = await completeClaim(database, sealer, claimed)
    } catch {
      throw failure
    }
    if (kept) return kept
    throw failure instanceof CommitUnknown ? new Problem(httpProblems.unavailable, {}, { cause: failure }) : failure
  }

  /**
   * Returns the first response again. If the work that it waited for after its commit is still running, the replay
   * waits as well.
   */
  async #replay(first: StoredResponse): Promise<StoredResponse> {
    const startedId = first.headers['operation-id']
    if (startedId && first.status < 400)
      await this.#endpoint.afterCommit?.({ ...this.#platform.services, started: [Number(startedId)] })
    return { ...first, headers: { ...first.headers, 'idempotency-replayed': 'true' } }
  }
}

/**
 * Returns whether a refusal is final. `idempotency_in_progress` is not: it means that another request is still in
 * flight.
 */
const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.status < 500 && error.code !== 'idempotency_in_progress'

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a validator for the current form of a resource (RFC 9110 §8.8.3). */
export const entityTag = (body: string): string => `"${hash('sha1', body, 'base64url')}"`
