import type { Tx } from '../../platform/db/database.ts'
import { precompiledChange } from '../../platform/db/precompiled.ts'
import type { RecordedRequest } from '../../platform/http/endpoint.ts'
import type { Action } from '../kit/action.ts'
import type { Caller } from '../kit/caller.ts'
import type { ActivityRow } from './tables.ts'

/** Actor of a change: a request, or Stead itself. */
export type Actor = { readonly caller: Caller; readonly request: RecordedRequest } | 'systems'

/**
 * Adds an entry to the activity log, in the transaction of the change itself.
 * @param entry.accountId the account whose log it is in: the owner of the site
 * @param entry.siteId the site whose log it is also in
 * @param entry.message description for users. Contains nothing secret, and no parts of a request except names
 */
export async function recordActivity(
  tx: Tx,
  actor: Actor,
  entry: {
    action: Action
    accountId: number
    siteId?: number | null | undefined
    message: string
    now: number
  },
): Promise<void> {
  const person = actor === 'systems' ? undefined : actor
  await insertEntry(tx, {
    account_id: entry.accountId,
    site_id: entry.siteId ?? null,
    action: entry.action.name,
    description: entry.action.description,
    message: entry.message,
    source: person ? 'api.v1' : 'systems',
    // In lower case, because filters search for that.
    actor_email: person?.caller.accountEmail.toLowerCase() ?? null,
    ip_address: person ? plainAddress(person.request.ipAddress) : null,
    user_agent: person?.request.userAgent.slice(0, 500) ?? '',
    created_at: entry.now,
  })
}

const insertEntry = precompiledChange((tx, row: Omit<ActivityRow, 'id'>) =>
  tx.insertInto('activity').values({
    account_id: row.account_id,
    site_id: row.site_id,
    action: row.action,
    description: row.description,
    message: row.message,
    source: row.source,
    actor_email: row.actor_email,
    ip_address: row.ip_address,
    user_agent: row.user_agent,
    created_at: row.created_at,
  }),
)

/** Converts the mapped form of IPv4 addresses, which a socket for both kinds returns (RFC 4291 §2.5.5.2). */
const plainAddress = (address: string): string => address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
