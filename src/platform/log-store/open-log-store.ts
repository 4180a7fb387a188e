import type { LogStore } from './log-store.ts'
import { openPostgresLogs } from './postgres-logs.ts'
import { logLimits } from './shares.ts'
import { openThreadedLogs } from './threaded-logs.ts'

/**
 * Opens the log store. Nothing happens before its first use.
 * @param options `url` of PostgreSQL, otherwise SQLite files in `folder`; `mostBytes` for all days together;
 * `mayReadBack` of a login of PostgreSQL: whether it may read entries, by default yes
 */
export function openLogStore(options: {
  url?: string | undefined
  folder: string
  mostBytes?: number | undefined
  mayReadBack?: boolean
}): LogStore {
  const limits = logLimits(options.mostBytes ?? MOST_BYTES)
  return options.url
    ? openPostgresLogs(options.url, limits, options.mayReadBack ?? true)
    : openThreadedLogs(options.folder, limits)
}

const MOST_BYTES = 4 * 2 ** 30
