import { Problem } from '../../platform/http/problem.ts'
import type { Context } from '../context.ts'
import { problems } from './problems.ts'

const PATIENCE_MS = 45_000

/**
 * Waits until the operation that the request started has ended well.
 * @throws Problem with the reason when it failed, or has not ended in time: `site_cannot` when another attempt would fail alike,
 *   `site_unavailable` when it may not
 */
export async function waitForOperation({ watches, started }: Context): Promise<void> {
  const id = started[0] as number
  let reason = 'it took too long'
  let problem: typeof problems.site_cannot | typeof problems.site_unavailable = problems.site_unavailable
  for await (const { state, error, isPermanent } of watches.follow(id, AbortSignal.timeout(PATIENCE_MS))) {
    if (state === 'succeeded') return
    if (state !== 'failed' && state !== 'canceled') continue
    reason = error ?? state
    if (isPermanent) problem = problems.site_cannot
  }
  throw new Problem(problem, { reason }, { headers: { 'operation-id': String(id) } })
}
