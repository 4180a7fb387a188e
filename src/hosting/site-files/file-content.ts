import type { SourceEntry, StoredEntry } from '../../backups/backup-store.ts'
import type { SitePlace } from '../site-database/database-content.ts'

/** Selects files of a site. Paths are those of `SourceEntry`. A folder includes everything in it. */
export interface FileScope {
  /** Includes these paths and everything below them. `['']` selects all files. */
  readonly paths: readonly string[]
  /** Excludes these paths and everything below them, except entries of `paths` that are inside one of them. */
  readonly except?: readonly string[]
}

/**
 * An entry of a site that is not copied, with the reason. Use the path for display only: a name that is not valid text
 * is shown as well as possible.
 */
export interface LeftOut {
  readonly path: string
  readonly why: /** A socket, a FIFO, or a device. */
    | 'kind'
    /** A link that leads, or may lead, out of the site. */
    | 'link'
    /** A name that is not UTF-8, which PHP cannot reach either. */
    | 'name'
    /** A path longer than 4,000 bytes, or deeper than 200 folders. */
    | 'depth'
    /** A folder where another file system is mounted. */
    | 'other file system'
    /** A folder that the host, which does not run as root, cannot read. */
    | 'unreadable'
}

export interface WalkOptions {
  /** The files to walk, by default all. */
  readonly scope?: FileScope
  readonly signal?: AbortSignal
  /** Called for each entry that is left out, so that it can be counted. */
  readonly onLeftOut?: (thing: LeftOut) => void
}

/** An entry that belongs at its path, with a way to get its content: from another site's walk, or from a backup. */
export type WantedEntry =
  | Exclude<SourceEntry, { kind: 'file' }>
  | (Omit<Extract<StoredEntry, { kind: 'file' }>, 'chunks'> & {
      /**
       * Can be called twice: once to compare and once to write. If the content's length differs from `sizeBytes`, the
       * content counts. A piece is valid until you request the next one.
       */
      open(): Promise<AsyncIterable<Uint8Array> | undefined>
    })

export interface PrepareOptions {
  /**
   * Entries in this scope that are not wanted are removed. Entries outside stay as they are. Wanted entries outside are
   * an error.
   */
  readonly scope: FileScope
  readonly signal?: AbortSignal
  /** Called with the bytes of wanted files handled so far, whether written or found unchanged. */
  readonly onProgress?: (doneBytes: number) => void
  /**
   * Whether nobody but Stead uses the files, because the site is elsewhere. A comparison then writes down which files
   * are the same, so that later ones and preparations read only files that have changed since, here or at the source.
   * `forgetCompared` deletes it. The quota of the site does not count: it applies where the site is.
   */
  readonly isCopy?: boolean
}

export interface PreparedFiles {
  /**
   * Paths that will be new or changed, those that will be new, those that will be changed, and paths that will be
   * removed: counted, with the names of the first 1,000 of each.
   */
  readonly written: CountedPaths
  readonly added: CountedPaths
  readonly changed: CountedPaths
  readonly removed: CountedPaths
}

export interface CountedPaths {
  readonly count: number
  readonly bytes: number
  readonly first: readonly string[]
}

/**
 * The only access to a site's files as a whole: its web root, without the core's `wp-admin` and `wp-includes` that are
 * mounted over it, and never through a link. Changes are staged next to the current files and then switched in. Only
 * files that differ are touched.
 *
 * Every function except `walk` can be called again after a crash: it continues, or finds that all is done. All refuse a
 * path or a link that would lead out of the site.
 */
export interface FileContent {
  /** Returns the bytes and the number of files. */
  size(directory: SitePlace): Promise<{ bytes: number; files: number }>
  /**
   * Checks whether the disk has room for one more file of this size, and the site's quota allows it. A small file is
   * allowed regardless of the quota.
   * @throws DiskFull
   */
  checkRoom(directory: SitePlace, bytes: number): Promise<void>
  /**
   * Yields a folder, everything in it, then its next sibling. Names in a folder are in the order of their bytes
   * (`comparePaths`). The site may write in the meantime: entries that vanish are left out.
   */
  walk(directory: SitePlace, options?: WalkOptions): AsyncIterable<SourceEntry>
  /**
   * Stages everything that differs next to the site, which keeps running. A file with the stamp of a wanted one counts
   * as the same and is not read. Changes that the site makes afterwards are not seen: `switch` would leave them, or
   * move them away with their folder. To keep them, call it once more when no PHP runs: it then walks the files and
   * stages only what has changed since.
   * @throws DiskFull, or FilesRefused for entries that cannot be wanted. Nothing of the change remains then.
   */
  prepare(directory: SitePlace, wanted: AsyncIterable<WantedEntry>, options: PrepareOptions): Promise<PreparedFiles>
  /** Returns what `prepare` would do, without writing anything. */
  compare(directory: SitePlace, wanted: AsyncIterable<WantedEntry>, options: PrepareOptions): Promise<PreparedFiles>
  /** Deletes what comparisons with `isCopy` have written down. */
  forgetCompared(directory: SitePlace): Promise<void>
  /**
   * Puts the prepared files in place and keeps the previous ones. No PHP of the site runs in the meantime. If
   * interrupted, the same call completes it, or `switchBack` rolls it back.
   */
  switch(directory: SitePlace): Promise<void>
  /** Restores everything as it was before `switch`. */
  switchBack(directory: SitePlace): Promise<void>
  /** Deletes the prepared files and the kept ones. */
  cleanUp(directory: SitePlace): Promise<void>
  /**
   * Copies all files to another site, whose web root is replaced. Shares blocks instead of reading where the file
   * system can (reflink). The source may write in the meantime.
   */
  copy(
    from: SitePlace,
    to: SitePlace,
    options?: { signal?: AbortSignal; onProgress?: (doneBytes: number) => void },
  ): Promise<void>
}
