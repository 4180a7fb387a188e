import type { NextEvents } from './next-events.ts'

/** A look at a site's scheduled events. */
export type Look =
  | {
      readonly kind: 'read'
      readonly next: NextEvents
      /** False: the database was written a moment ago; what its mark stands for may still change. */
      readonly settled: boolean
    }
  /** A write is under way, or one was cut off. */
  | { readonly kind: 'busy' }
  /** Only the site's own WordPress can tell. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** Where scheduled events are read without running the site's PHP; one for each kind of site database. */
export interface EventSource {
  /**
   * Something that changes when the site's database does, or undefined when there is no database. Asked of every site every
   * minute, so it must be cheap.
   */
  mark(siteDirectory: string): string | undefined
  /** Reads the events. Whatever a site has put there ends in `unknown`, in bounded time and memory. */
  read(siteDirectory: string): Promise<Look>
}

/** The database holds something that is not read here: damaged, hostile, or only of another form. */
export class UnreadableDatabase extends Error {
  override name = 'UnreadableDatabase'
}
