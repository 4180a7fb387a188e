import type { NextEvents } from './next-events.ts'

/** The result of checking a site for scheduled events. */
export type Look =
  | {
      readonly kind: 'read'
      readonly next: NextEvents
      /** False when the database was written a moment ago, so that it may still change under the same mark. */
      readonly settled: boolean
    }
  /** A write is in progress or was interrupted. */
  | { readonly kind: 'busy' }
  /** Only the site's own WordPress can read its events. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** Reads scheduled events without running the site's PHP. Each kind of site database has its own. */
export interface EventSource {
  /**
   * Returns a value that changes when the site's database does, or undefined without a database. Called for every site
   * every minute, so it must be cheap.
   */
  mark(siteDirectory: string): string | undefined
  /** Reads the events. Returns `unknown` for any content that it cannot read, in bounded time and memory. */
  read(siteDirectory: string): Promise<Look>
}

/** The database is damaged, hostile, or in a format that is not supported here. */
export class UnreadableDatabase extends Error {
  override name = 'UnreadableDatabase'
}
