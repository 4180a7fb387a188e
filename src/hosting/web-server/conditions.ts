import type { Stats } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'

/** The values that distinguish two states of a file. */
export interface Validators {
  readonly etag: string
  readonly lastModified: string
}

/**
 * Returns the validators. They are strong enough: only a change within one microsecond that keeps the size goes
 * unnoticed.
 */
export const validatorsOf = (stats: Stats): Validators => ({
  etag: `"${stats.size.toString(36)}-${Math.round(stats.mtimeMs * 1000).toString(36)}"`,
  lastModified: new Date(stats.mtimeMs).toUTCString(),
})

/** Returns true when the client's copy is current (RFC 9110 §13.2.2: If-None-Match takes precedence). */
export function isNotModified(headers: IncomingHttpHeaders, { etag, lastModified }: Validators): boolean {
  const none = headers['if-none-match']
  if (none !== undefined)
    return none.trim() === '*' || none.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return !Number.isNaN(since) && Date.parse(lastModified) <= since
}

/** A part of a file, both ends included. */
export interface FileRange {
  readonly start: number
  readonly end: number
}

/**
 * Returns the part that a request asks for (RFC 9110 §14). Undefined means the whole file, which also answers several
 * ranges, other units, and a copy that has changed (`If-Range`). `'unsatisfiable'` means a range past the end.
 */
export function rangeOf(
  headers: IncomingHttpHeaders,
  size: number,
  { etag, lastModified }: Validators,
): FileRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(headers.range?.trim() ?? '')
  if (!match || (match[1] === '' && match[2] === '')) return undefined
  const condition = headers['if-range']
  if (typeof condition === 'string' && condition !== etag && condition !== lastModified) return undefined
  const first = match[1] === '' ? Math.max(0, size - Number(match[2])) : Number(match[1])
  const last = match[1] === '' || match[2] === '' ? size - 1 : Math.min(Number(match[2]), size - 1)
  if (match[1] !== '' && match[2] !== '' && Number(match[2]) < Number(match[1])) return undefined
  return first > last ? 'unsatisfiable' : { start: first, end: last }
}
