import { hash, randomUUID } from 'node:crypto'
import type { Insertable } from 'kysely'
import type { Sealer } from '../../crypto/seal.ts'
import { CommitUnknown } from '../../db/commit-unknown.ts'
import { type Database, isLockTimeout, limitLockWait, type Tx } from '../../db/database.ts'
import type { IdempotencyKeyRow } from '../../db/schema.ts'
import { httpProblems, Problem } from '../problem.ts'
import type { KeyLimit } from './key-limit.ts'

const KEPT_MS = 24 * 3600_000
/**
 * After this time an unfinished first request counts as dead. If it is alive after all, it finds that it was overtaken.
 */
const LOCK_MS = 60_000
/**
 * How long a request waits for the transaction of another with its key, such as one of a dead process that the database
 * server still considers connected.
 */
const LOCK_WAIT_MS = 5000
const PURPOSE = 'idempotency'

/** A response as it was sent. */
export interface StoredResponse {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>
}

/** The identity of a request with an `Idempotency-Key`: the application, its key, and a digest of the request. */
export interface KeyedRequest {
  readonly applicationId: number
  readonly key: string
  readonly fingerprint: string
}

/**
 * Returns the identity of a request.
 * @param asked the endpoint and its validated input, which the contract bounds and which is the same for two spellings
 * @throws Problem `invalid_idempotency_key`
 */
export function keyedRequest(applicationId: number, key: string, asked: unknown[]): KeyedRequest {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new Problem(httpProblems.invalid_idempotency_key, {})
  return { applicationId, key, fingerprint: hash('sha256', JSON.stringify(asked), 'hex') }
}

/** The result of a claim: the right to do the work, or the first response. */
export type KeyClaim =
  | { readonly claim: string; readonly first?: undefined }
  | { readonly claim?: undefined; readonly first: StoredResponse }

/*
 * The fence. Each claim has a random name. The transaction of the change also stores the response, on two conditions:
 * the claim still has its name, and no response is stored. So a change and its response are both saved or both lost. A
 * request that takes over or frees a key makes a late commit of the earlier attempt impossible. On PostgreSQL the two
 * meet at the row lock: one waits for the other and then sees the result. Nothing depends on a clock. A clock that is
 * wrong, set back, or on another machine only changes how soon a key is taken over.
 */

/**
 * Claims the key before the work, in its own transaction, so that a second request sees it at once.
 * @param now milliseconds UTC
 * @throws Problem `idempotency_in_progress`, `idempotency_key_reused`, `idempotency_keys_exhausted`, or `unavailable`
 * when it is unknown whether the claim was saved
 */
export async function claimKey(
  database: Database,
  sealer: Sealer,
  request: KeyedRequest,
  now: number,
  limit?: KeyLimit,
): Promise<KeyClaim> {
  const claim = randomUUID()
  try {
    // A round fails if another request claims, stores or frees the key at the same moment.
    for (let round = 0; round < 3; round++) {
      const claimed = await database.transaction(async (tx) => {
        await limitLockWait(tx, LOCK_WAIT_MS)
        return tryClaim(tx, sealer, { ...request, claim }, now, limit)
      })
      if (claimed) return claimed
    }
  } catch (error) {
    if (isLockTimeout(error)) throw inProgress(error)
    if (!(error instanceof CommitUnknown)) throw error
    // Nothing was done under this claim, and nothing will be.
    await completeClaim(database, sealer, { ...request, claim }).catch(() => {})
    throw new Problem(httpProblems.unavailable, {}, { cause: error })
  }
  throw inProgress()
}

/** A request that has the right to do its work, until another request takes the key over. */
export interface ClaimedRequest extends KeyedRequest {
  readonly claim: string
}

async function tryClaim(
  tx: Tx,
  sealer: Sealer,
  request: ClaimedRequest,
  now: number,
  limit: KeyLimit | undefined,
): Promise<KeyClaim | undefined> {
  const { claim, fingerprint } = request
  const row = await findKey(tx, request)
  const fresh = {
    fingerprint,
    claim,
    response_sealed: null,
    status: null,
    size_bytes: 0,
    locked_until: now + LOCK_MS,
    created_at: now,
  }
  if (!row) {
    await limit?.check(tx, request.applicationId, now)
    return (await insertKey(tx, request, fresh)) ? { claim } : undefined
  }
  if (row.created_at > now - KEPT_MS) {
    if (row.fingerprint !== fingerprint) throw new Problem(httpProblems.idempotency_key_reused, {})
    if (row.response_sealed) return { first: opened(sealer, row.response_sealed) }
    // A wrong clock set a lock that is further ahead than any valid one.
    if (row.locked_until > now && row.locked_until <= now + LOCK_MS) throw inProgress()
  }
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set(fresh)
    .where('application_id', '=', request.applicationId)
    .where('key', '=', request.key)
    .where('claim', '=', row.claim)
    .where('created_at', '=', row.created_at)
    .$if(row.response_sealed === null, (query) => query.where('response_sealed', 'is', null))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n ? { claim } : undefined
}

const inProgress = (cause?: unknown) =>
  new Problem(httpProblems.idempotency_in_progress, {}, { cause, headers: { 'retry-after': '1' } })

const opened = (sealer: Sealer, sealed: string) => JSON.parse(sealer.open(sealed, PURPOSE)) as StoredResponse

const findKey = (tx: Tx, { applicationId, key }: KeyedRequest) =>
  tx
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('application_id', '=', applicationId)
    .where('key', '=', key)
    .executeTakeFirst()

async function insertKey(
  tx: Tx,
  { applicationId, key }: KeyedRequest,
  fresh: Omit<Insertable<IdempotencyKeyRow>, 'application_id' | 'key'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('idempotency_keys')
    .values({ application_id: applicationId, key, ...fresh })
    .onConflict((conflict) => conflict.columns(['application_id', 'key']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Finds out what became of an attempt that failed, and makes it final. If the response was stored, returns it. If not,
 * the key is free for another try, and a late commit of the attempt fails.
 * @throws when the outcome cannot be determined now, for example while the database is unreachable
 */
export async function completeClaim(
  database: Database,
  sealer: Sealer,
  request: ClaimedRequest,
): Promise<StoredResponse | undefined> {
  return database.transaction(async (tx) => {
    await limitLockWait(tx, LOCK_WAIT_MS)
    // This waits for an attempt whose commit is still on its way.
    await tx
      .deleteFrom('idempotency_keys')
      .where('application_id', '=', request.applicationId)
      .where('key', '=', request.key)
      .where('claim', '=', request.claim)
      .where('response_sealed', 'is', null)
      .execute()
    const row = await findKey(tx, request)
    return row?.claim === request.claim && row.response_sealed ? opened(sealer, row.response_sealed) : undefined
  })
}

/**
 * Stores the response in the transaction of the change itself, so that neither exists without the other.
 * @throws Problem `idempotency_in_progress` when another request has taken the key over: the change must not happen
 * twice
 */
export async function keepResponse(
  tx: Tx,
  sealer: Sealer,
  request: ClaimedRequest,
  response: StoredResponse,
): Promise<void> {
  const sealed = sealer.seal(JSON.stringify(response), PURPOSE)
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set({ response_sealed: sealed, status: response.status, size_bytes: sealed.length })
    .where('application_id', '=', request.applicationId)
    .where('key', '=', request.key)
    .where('claim', '=', request.claim)
    .where('response_sealed', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw inProgress()
}

/**
 * Deletes expired keys, the oldest first.
 * @returns how many it deleted; call again until it is 0
 */
export async function forgetOldKeys(tx: Tx, now: number, most: number): Promise<number> {
  const old = tx
    .selectFrom('idempotency_keys')
    .select(['application_id', 'key'])
    .where('created_at', '<', now - KEPT_MS)
    .orderBy('created_at')
    .limit(most)
  const { numDeletedRows } = await tx
    .deleteFrom('idempotency_keys')
    .where((each) => each(each.refTuple('application_id', 'key'), 'in', old.$asTuple('application_id', 'key')))
    .executeTakeFirst()
  return Number(numDeletedRows)
}
