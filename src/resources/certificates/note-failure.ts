import { dropChallenge } from '../../dns/zones/challenges.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { FailureContext } from '../../platform/operations/definition.ts'
import { changeServedName, findName, type StoredCertificate } from './certificate.store.ts'
import { tellFailed } from './tell-of-certificate.ts'

/**
 * Returns how soon the DNS is checked again, which costs the authority nothing. Soon for a name that was just added,
 * later for one that has led elsewhere for days.
 */
const lookAgainMs = (sinceMs: number): number => Math.min(Math.max(sinceMs / 4, 300_000), DAY_MS / 4)
/** Authorities count failures by the hour, so the first pauses are as long as they take to forget. */
const FIRST_PAUSE_MS = 900_000

/** Returns a pause that allows several retries before a certificate expires. */
const shareOfLifeMs = ({ expires_at }: Pick<StoredCertificate, 'expires_at'>, now: number): number =>
  expires_at === null || expires_at <= now ? Number.POSITIVE_INFINITY : Math.max((expires_at - now) / 4, FIRST_PAUSE_MS)

/** Records the reason and the time of the retry, and reports the failure. */
export async function noteFailure(tx: Tx, context: FailureContext<{ readonly hostName: string }>): Promise<void> {
  const { input, operationId, now } = context
  const row = await findName(tx, input.hostName)
  // No longer wanted.
  if (!row) return dropChallenge(tx, input.hostName, now())
  if (row.operation_id !== operationId) return
  await dropChallenge(tx, input.hostName, now())
  const reason = context.canceled ? 'It was canceled' : (context.error ?? 'It failed')
  const isHeldBack = row.not_before !== null && row.not_before > now()
  const failures = isHeldBack ? row.failures : row.failures + 1
  const pauseMs =
    failures === 0 ? lookAgainMs(now() - row.wanted_at) : Math.min(DAY_MS, FIRST_PAUSE_MS * 4 ** (failures - 1))
  await changeServedName(tx, input.hostName, {
    ...{ reason, reason_at: now(), failures, challenge_token: null, challenge_answer: null },
    due_at: isHeldBack ? (row.not_before as number) : now() + Math.min(pauseMs, shareOfLifeMs(row, now())),
  })
  await tellFailed(tx, context, row, reason)
}
