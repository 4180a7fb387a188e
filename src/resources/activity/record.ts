import type { Tx } from '../../platform/db/database.ts'
import type { RequestFacts } from '../../platform/http/operation.ts'
import type { Caller } from '../context.ts'
import { type Action, actions } from './actions.ts'

/** Who did it, from where: a request, or Stead itself. */
export type Actor = { readonly caller: Caller; readonly request: RequestFacts } | 'systems'

/**
 * Writes one entry into the activity log, in the transaction of the change itself.
 * @param entry.accountId the account whose log it is: the owner of the site
 */
export async function recordActivity(
  tx: Tx,
  actor: Actor,
  entry: { action: Action; accountId: number; siteId?: number; message: string; now: number },
): Promise<void> {
  const person = actor === 'systems' ? undefined : actor
  await tx
    .insertInto('activity')
    .values({
      account_id: entry.accountId,
      site_id: entry.siteId ?? null,
      action: entry.action,
      description: actions[entry.action],
      message: entry.message,
      source: person ? 'api.v1' : 'systems',
      actor_email: person?.caller.accountEmail ?? null,
      ip_address: person?.request.ipAddress ?? null,
      user_agent: person?.request.userAgent.slice(0, 500) ?? '',
      created_at: entry.now,
    })
    .execute()
}
