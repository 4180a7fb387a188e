import type { Sealer } from '../../../platform/crypto/seal.ts'
import { FetchError } from '../../../platform/fetch/fetch-public.ts'
import { postPublic } from '../../../platform/fetch/post-public.ts'
import { retryAfterMs } from '../../../platform/fetch/retry-after.ts'
import type { ClaimedDelivery } from './claim-deliveries.store.ts'
import { SECRET_PURPOSE, signedHeaders } from './signature.ts'

/** Time limit for a receiver's response. */
export const ATTEMPT_MS = 15_000
/** How much of a response is read and stored. */
const ANSWER_CHARACTERS = 500

/** Result of one attempt. */
export interface AttemptOutcome {
  readonly startedAt: number
  readonly durationMs: number
  readonly status: number | null
  readonly answer: string
  /** Null if it has arrived. */
  readonly error: string | null
  readonly retryAfterMs: number
}

export interface SendOptions {
  readonly sealer: Sealer
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
}

/**
 * Sends a delivery once.
 * @throws the signal's reason, and Stead's own errors
 */
export async function sendDelivery(
  claimed: ClaimedDelivery,
  { sealer, allowPrivate, signal }: SendOptions,
): Promise<AttemptOutcome> {
  const startedAt = Date.now()
  const from = performance.now()
  const took = () => ({ startedAt, durationMs: Math.round(performance.now() - from) })
  const sealed = [claimed.secretSealed, claimed.oldSecretSealed].filter((each) => each !== null)
  const secrets = sealed.map((each) => sealer.open(each, SECRET_PURPOSE))
  const headers = signedHeaders({ id: claimed.messageId, body: claimed.body }, secrets, startedAt)
  try {
    const {
      status,
      headers: answered,
      start,
    } = await postPublic(claimed.url, {
      allowPrivate,
      headers,
      body: claimed.body,
      timeoutMs: ATTEMPT_MS,
      startBytes: ANSWER_CHARACTERS,
      signal,
    })
    const wait = answered['retry-after']
    return {
      ...took(),
      status,
      answer: printable(start),
      error: status >= 200 && status < 300 ? null : sentenceOf(status),
      retryAfterMs: retryAfterMs(Array.isArray(wait) ? wait[0] : wait, Date.now()) ?? 0,
    }
  } catch (error) {
    if (signal.aborted || !(error instanceof FetchError)) throw error
    return { ...took(), status: null, answer: '', error: `${error.message}.`.slice(0, 500), retryAfterMs: 0 }
  }
}

const sentenceOf = (status: number): string =>
  status >= 300 && status < 400
    ? `The receiver responded with status ${status}, and Stead does not follow redirects.`
    : `The receiver responded with status ${status}.`

/** Makes text safe for any display. */
const printable = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replace(/[^\P{C}\n\t]|\p{Cs}/gu, '�')
    .slice(0, ANSWER_CHARACTERS)
