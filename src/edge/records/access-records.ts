import { droppedIn, type LogRecord } from '../../platform/log-store/log-store.ts'
import { ownText } from '../own-memory.ts'
import type { AccessEntry } from './access-log.ts'

/** Methods that the log can be filtered by. */
export const requestTypes = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type RequestType = (typeof requestTypes)[number]

/** Returns the number that a status and a method are found by. */
export const accessFacet = (status: number, requestType: string): number =>
  status * 8 + requestTypes.indexOf(requestType as RequestType) + 1

/** Returns every facet with one of these statuses (all if absent) and one of the methods (any if absent). */
export function accessFacets(
  statuses: readonly number[] | undefined,
  requestType: RequestType | undefined,
): number[] | undefined {
  if (!statuses && !requestType) return undefined
  const all = statuses ?? Array.from({ length: 900 }, (_, n) => 100 + n)
  const methods = requestType ? [requestType] : ['', ...requestTypes]
  return all.flatMap((status) => methods.map((method) => accessFacet(status, method)))
}

/** The limit of each field that a visitor controls, so that an entry has about 2 kB at most, with the rest. */
const MOST_BYTES = { url: 768, host: 255, referer: 384, userAgent: 384, forwardedFor: 128 }

/** Cuts a text to its limit as JSON in the store: a quote takes two bytes there, a control character six. */
function cut(text: string, mostBytes: number): string {
  if (text.length * 6 <= mostBytes) return text
  let kept = text.length > mostBytes ? ownText(text.slice(0, mostBytes)) : text
  for (;;) {
    const bytes = Buffer.byteLength(JSON.stringify(kept)) - 2
    if (bytes <= mostBytes) return kept
    kept = kept.slice(0, Math.min(kept.length - 1, Math.floor((kept.length * mostBytes) / bytes)))
  }
}

/**
 * Returns the stored form: the values that change from entry to entry, without names. Their order must never change.
 */
export function accessRecord(entry: AccessEntry & { siteId: number }, id: number): LogRecord {
  return {
    siteId: entry.siteId,
    atMs: Date.parse(entry.date),
    id,
    facet: accessFacet(entry.status, entry.request_type),
    key: entry.user_ip,
    body: JSON.stringify([
      entry.body_bytes_sent,
      entry.cached,
      entry.http2,
      cut(entry.http_host, MOST_BYTES.host),
      cut(entry.http_referer, MOST_BYTES.referer),
      cut(entry.http_user_agent, MOST_BYTES.userAgent),
      entry.http_version,
      cut(entry.http_x_forwarded_for, MOST_BYTES.forwardedFor),
      entry.renderer,
      entry.request_completion,
      entry.request_time,
      entry.request_type,
      cut(entry.request_url, MOST_BYTES.url),
      entry.scheme,
      entry.type,
    ]),
  }
}

/** Returns an entry that says what is missing. */
function noticeEntry({ siteId, atMs }: LogRecord, dropped: number): AccessEntry {
  return {
    siteId,
    body_bytes_sent: 0,
    cached: '',
    date: new Date(atMs).toISOString(),
    http2: '',
    http_host: '',
    http_referer: '',
    http_user_agent: '',
    http_version: '',
    http_x_forwarded_for: '',
    renderer: '',
    request_completion: '',
    request_time: 0,
    request_type: '',
    request_url: `… ${dropped} requests of this day were omitted because the site reached its limit.`,
    scheme: '',
    status: 0,
    timestamp: Math.floor(atMs / 1000),
    type: 'notice',
    user_ip: '',
  }
}

type Stored = [number, ...string[]]

/** Returns the entry that {@link accessRecord} encoded. */
export function accessEntryOf(record: LogRecord): AccessEntry {
  const dropped = droppedIn(record)
  if (dropped !== undefined) return noticeEntry(record, dropped)
  const stored = JSON.parse(record.body) as Stored
  const text = (index: number): string => stored[index] as string
  return {
    siteId: record.siteId,
    body_bytes_sent: stored[0],
    cached: text(1),
    date: new Date(record.atMs).toISOString(),
    http2: text(2),
    http_host: text(3),
    http_referer: text(4),
    http_user_agent: text(5),
    http_version: text(6),
    http_x_forwarded_for: text(7),
    renderer: text(8),
    request_completion: text(9),
    request_time: Number(stored[10]),
    request_type: text(11),
    request_url: text(12),
    scheme: text(13),
    status: Math.floor(record.facet / 8),
    timestamp: Math.floor(record.atMs / 1000),
    type: text(14),
    user_ip: record.key,
  }
}
