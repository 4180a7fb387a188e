import type { LogRecord } from '../platform/log-store/log-store.ts'
import type { AccessEntry } from './access-log.ts'

/** Methods that the log can be filtered by. */
export const requestTypes = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type RequestType = (typeof requestTypes)[number]

/** Number of a status and a method: what an entry is found by. */
export const accessFacet = (status: number, requestType: string): number =>
  status * 8 + requestTypes.indexOf(requestType as RequestType) + 1

/** Every facet with one of these statuses (all that there can be when absent) and one of the methods (any when absent). */
export function accessFacets(
  statuses: readonly number[] | undefined,
  requestType: RequestType | undefined,
): number[] | undefined {
  if (!statuses && !requestType) return undefined
  const all = statuses ?? Array.from({ length: 900 }, (_, n) => 100 + n)
  const methods = requestType ? [requestType] : ['', ...requestTypes]
  return all.flatMap((status) => methods.map((method) => accessFacet(status, method)))
}

/** What a visitor sends is kept up to this length: a header may have 16 kB, and a log is read by people. */
const MOST_CHARACTERS = 2048

const cut = (text: string): string => (text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text)

/** The stored form: what changes from entry to entry, in this order for ever, without names. */
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
      entry.http_host,
      cut(entry.http_referer),
      cut(entry.http_user_agent),
      entry.http_version,
      cut(entry.http_x_forwarded_for),
      entry.renderer,
      entry.request_completion,
      entry.request_time,
      entry.request_type,
      cut(entry.request_url),
      entry.scheme,
      entry.type,
    ]),
  }
}

type Stored = [number, ...string[]]

/** The entry that {@link accessRecord} made a record of. */
export function accessEntryOf(record: LogRecord): AccessEntry {
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
