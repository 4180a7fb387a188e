import type { LogStore } from './log-store.ts'
import { openPostgresLogs } from './postgres-logs.ts'
import { openThreadedLogs } from './threaded-logs.ts'

/**
 * Opens the log store; nothing happens before it is used.
 * @param options `url` of PostgreSQL, else SQLite files in `folder`
 */
export function openLogStore(options: { url?: string | undefined; folder: string }): LogStore {
  return options.url ? openPostgresLogs(options.url) : openThreadedLogs(options.folder)
}
