import { Problem } from '../../platform/http/problem.ts'
import { problems } from '../sites/problems.ts'
import type { Context } from './context.ts'

const PATIENCE_MS = 45_000

/**
 * Waits until the operation that the request started has succeeded.
 * @throws Problem with the reason when it failed or did not end in time: `site_cannot` when a retry would also fail,
 * `site_unavailable` when it might not
 */
export async function waitForOperation({ watches, started }: Pick<Context, 'watches' | 'started'>): Promise<void> {
  const id = started[0] as number
  const headers = { 'operation-id': String(id) }
  let reason = 'it took too long'
  for await (const { state, error, isPermanent } of watches.follow(id, AbortSignal.timeout(PATIENCE_MS))) {
    if (state === 'succeeded') return
    if (state !== 'failed' && state !== 'canceled') continue
    reason = error ?? state
    if (isPermanent) throw new Problem(problems.site_cannot, { reason }, { headers })
  }
  throw new Problem(problems.site_unavailable, { reason }, { headers })
}
