import type { Sealer } from '../../platform/crypto/seal.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { invalidInput } from '../../platform/http/problem.ts'
import { type LogKind, type LogPosition, type LogQuery, RETENTION_DAYS } from '../../platform/log-store/log-store.ts'

/** From the API description. */
export const ENTRIES_A_PAGE = 200

/** The log and site that a `scroll_id` belongs to. It opens no other log. */
const purpose = (kind: LogKind, siteId: number): string => `scroll of the ${kind} log of site ${siteId}`

/** Returns an opaque text for a place in a log. It cannot be opened if it was changed, or for another log. */
export function sealScroll(sealer: Sealer, kind: LogKind, siteId: number, { atMs, id }: LogPosition): string {
  return sealer.seal(`${atMs} ${id}`, purpose(kind, siteId))
}

/** @throws Problem `invalid_input` for a text that Stead did not create for this log */
function openScroll(sealer: Sealer, kind: LogKind, siteId: number, scrollId: string): LogPosition {
  try {
    const [atMs, id] = sealer.open(scrollId, purpose(kind, siteId)).split(' ').map(Number)
    return { atMs: atMs as number, id: id as number }
  } catch {
    throw invalidInput(['scroll_id: must be a scroll_id of an earlier page of this log'])
  }
}

/**
 * Returns where the requested page begins, and how far back the log goes.
 * @param scrollId from the previous page; empty or absent requests the newest page
 */
export function pageStart(
  sealer: Sealer,
  kind: LogKind,
  siteId: number,
  scrollId: string | undefined,
  now: number,
): Pick<LogQuery, 'kind' | 'siteId' | 'before' | 'sinceMs' | 'limit'> {
  return {
    kind,
    siteId,
    // The clocks of other machines may be slightly ahead.
    before: scrollId ? openScroll(sealer, kind, siteId, scrollId) : { atMs: now + DAY_MS, id: 0 },
    sinceMs: now - RETENTION_DAYS * DAY_MS,
    limit: ENTRIES_A_PAGE,
  }
}
