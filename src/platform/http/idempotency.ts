import { hash } from 'node:crypto'
import type { Sealer } from '../crypto/seal.ts'
import { type Database, isUniqueViolation, type Tx } from '../db/database.ts'
import { Problem } from './problem.ts'

const KEPT_MS = 24 * 3600_000
/** After it a first request that never finished counts as dead: its process was killed and nothing of it was kept. */
const LOCK_MS = 60_000
const PURPOSE = 'idempotency'

/** A response as it was sent. */
export interface StoredResponse {
  readonly status: number
  readonly body: unknown
  readonly headers: Record<string, string>
}

/** What a request with an `Idempotency-Key` is: the application, its key, and a digest of what was asked. */
export interface KeyedRequest {
  readonly applicationId: number
  readonly key: string
  readonly fingerprint: string
}

/**
 * @param asked the operation and its input after validation: bounded by the contract, and the same for two spellings of it
 * @throws Problem `invalid_idempotency_key`
 */
export function keyedRequest(applicationId: number, key: string, asked: unknown[]): KeyedRequest {
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new Problem('invalid_idempotency_key', {})
  return { applicationId, key, fingerprint: hash('sha256', JSON.stringify(asked), 'hex') }
}

/**
 * Claims the key before the work, in a transaction of its own, so that a second request sees it at once.
 * @returns the first response when it is known
 * @throws Problem `idempotency_in_progress`, `idempotency_key_reused`
 */
export async function claimKey(
  database: Database,
  sealer: Sealer,
  request: KeyedRequest,
  now: number,
): Promise<StoredResponse | undefined> {
  try {
    return await database.transaction(async (tx) => {
      const row = await findKey(tx, request)
      if (row && row.created_at > now - KEPT_MS) {
        if (row.fingerprint !== request.fingerprint) throw new Problem('idempotency_key_reused', {})
        if (row.response_sealed) return JSON.parse(sealer.open(row.response_sealed, PURPOSE)) as StoredResponse
        if (row.locked_until > now)
          throw new Problem('idempotency_in_progress', {}, { headers: { 'retry-after': '1' } })
      }
      if (row) await deleteKey(tx, request, row.created_at)
      await insertKey(tx, request, now)
      return undefined
    })
  } catch (error) {
    // two first requests at once: the other one's insert won
    if (isUniqueViolation(error)) throw new Problem('idempotency_in_progress', {}, { headers: { 'retry-after': '1' } })
    throw error
  }
}

const findKey = (tx: Tx, { applicationId, key }: KeyedRequest) =>
  tx
    .selectFrom('idempotency_keys')
    .selectAll()
    .where('application_id', '=', applicationId)
    .where('key', '=', key)
    .executeTakeFirst()

const insertKey = (tx: Tx, { applicationId, key, fingerprint }: KeyedRequest, now: number) =>
  tx
    .insertInto('idempotency_keys')
    .values({
      application_id: applicationId,
      key,
      fingerprint,
      response_sealed: null,
      status: null,
      locked_until: now + LOCK_MS,
      created_at: now,
    })
    .execute()

/**
 * Forgets a key whose request failed on our side, so that the client can try again.
 * @param claimedAt the `now` of {@link claimKey}: a claim by another request since then stays
 */
export async function deleteKey(tx: Tx, { applicationId, key }: KeyedRequest, claimedAt: number): Promise<void> {
  await tx
    .deleteFrom('idempotency_keys')
    .where('application_id', '=', applicationId)
    .where('key', '=', key)
    .where('created_at', '=', claimedAt)
    .execute()
}

/**
 * Keeps the response; called in the transaction of the change itself, so that neither is without the other.
 * @param claimedAt the `now` of {@link claimKey}
 * @throws Problem when another request has taken the key over meanwhile: the change must not happen twice
 */
export async function keepResponse(
  tx: Tx,
  sealer: Sealer,
  request: KeyedRequest,
  claimedAt: number,
  response: StoredResponse,
): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('idempotency_keys')
    .set({ response_sealed: sealer.seal(JSON.stringify(response), PURPOSE), status: response.status })
    .where('application_id', '=', request.applicationId)
    .where('key', '=', request.key)
    .where('created_at', '=', claimedAt)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) throw new Problem('idempotency_in_progress', {}, { headers: { 'retry-after': '1' } })
}

/**
 * Deletes keys past their time, the oldest first.
 * @returns how many; call again until it is 0
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
