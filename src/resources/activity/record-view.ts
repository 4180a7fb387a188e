import type { Database } from '../../platform/db/database.ts'
import type { Action } from '../kit/action.ts'
import type { Caller } from '../kit/caller.ts'
import { aboutSite, changeBy } from '../kit/change.ts'
import type { Context } from '../kit/context.ts'
import { lastEntry } from './activity.store.ts'

/** How often at most the log records that the same person read the same thing. */
export const VIEW_EVERY_MS = 3600_000
/** Views that a process remembers, so that a read usually needs no query. */
const MOST_KNOWN = 10_000
const views = new WeakMap<Database, Map<string, number>>()

interface Viewed {
  readonly site: { readonly id: number; readonly accountId: number }
  readonly action: Action
  readonly message: string
}

/** Records in the log of a site that the caller read something, at most once an hour. */
export async function recordView(
  { database, caller, request, now }: Pick<Context, 'database' | 'request' | 'now'> & { caller: Caller },
  { site, action, message }: Viewed,
): Promise<void> {
  const key = `${site.id} ${caller.accountId} ${action.name}`
  const known = views.get(database) ?? new Map<string, number>()
  views.set(database, known)
  if (isRecent(known.get(key), now)) return
  known.delete(key)
  known.set(key, now)
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value as string)
  await database.transaction(async (tx) => {
    // Another process may have recorded it.
    const last = await lastEntry(tx, site.id, { action: action.name, email: caller.accountEmail.toLowerCase() })
    if (isRecent(last, now)) return void known.set(key, last as number)
    await changeBy(tx, { actor: { caller, request }, about: aboutSite(site), now }).record({ action, message })
  })
}

/** A future time was written before the clock was set back. */
const isRecent = (at: number | undefined, now: number): boolean =>
  at !== undefined && Math.abs(now - at) < VIEW_EVERY_MS
