import { Problem } from '../../platform/http/problem.ts'
import type { Context } from '../context.ts'
import { problems } from './problems.ts'

const PATIENCE_MS = 45_000

/**
 * Waits until the operation that the request started has ended well.
 * @throws Problem `site_unavailable` with its reason when it failed, or has not ended in time
 */
export async function waitForOperation({ watches, started }: Context): Promise<void> {
  const id = started[0] as number
  let reason = 'it took too long'
  for await (const { state, error } of watches.follow(id, AbortSignal.timeout(PATIENCE_MS))) {
    if (state === 'succeeded') return
    if (state === 'failed' || state === 'canceled') reason = error ?? state
  }
  throw new Problem(problems.site_unavailable, { reason }, { headers: { 'operation-id': String(id) } })
}
