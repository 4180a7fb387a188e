import type { SourceEntry, StoredEntry } from '../../backups/backup-store.ts'
import type { SitePlace } from '../site-database/database-content.ts'

/** Which of a site's files are meant. Paths are those of `SourceEntry`; a folder stands for all that is in it. */
export interface FileScope {
  /** These and what is below them; `['']`: all. */
  readonly paths: readonly string[]
  /** Not these, and not what is below them; but one of `paths` that lies in one of them. */
  readonly except?: readonly string[]
}

/** Something of a site that is not copied, and why. Its path is to be shown, not to be used: a name that is no text is told as well as can be. */
export interface LeftOut {
  readonly path: string
  readonly why: /** A socket, a FIFO, a device. */
    | 'kind'
    /** A link that leads out of the site, or may. */
    | 'link'
    /** Not UTF-8: PHP cannot reach it either. */
    | 'name'
    /** Longer than 4,000 bytes, or deeper than 200 folders. */
    | 'depth'
    /** A folder of another file system that is mounted there. */
    | 'other file system'
    /** A folder that the host, which does not run as root, may not read. */
    | 'unreadable'
}

export interface WalkOptions {
  /** Default: all. */
  readonly scope?: FileScope
  readonly signal?: AbortSignal
  /** Told of what is left out, to be counted. */
  readonly onLeftOut?: (thing: LeftOut) => void
}

/** A thing that is to be at its path, and how to get its content: of another site's walk, or of a backup. */
export type WantedEntry =
  | Exclude<SourceEntry, { kind: 'file' }>
  | (Omit<Extract<StoredEntry, { kind: 'file' }>, 'chunks'> & {
      /**
       * May be called twice: to be compared, and to be written. What it has differently from `sizeBytes` is what is written. A piece is valid until
       * the next is asked for.
       */
      open(): Promise<AsyncIterable<Uint8Array> | undefined>
    })

export interface PrepareOptions {
  /** Where something that is not wanted goes away. What is outside stays as it is, and wanted things outside are a mistake. */
  readonly scope: FileScope
  readonly signal?: AbortSignal
  /** Bytes of wanted files that are dealt with, whether written or found the same. */
  readonly onProgress?: (doneBytes: number) => void
}

export interface Prepared {
  /** Paths that will be new or other than before, and that will be gone: counted, and the first 1,000 of each by name. */
  readonly written: { readonly count: number; readonly bytes: number; readonly first: readonly string[] }
  readonly removed: { readonly count: number; readonly bytes: number; readonly first: readonly string[] }
}

/**
 * The one door to a site's files as a whole: its web root, without the core's `wp-admin` and `wp-includes` that are laid over it, and never
 * through a link. Changes are laid beside what is there and switched in: only what differs is touched.
 *
 * Every function but `walk` may be called again after a crash: it goes on, or finds that all is done. All refuse what a path or a link would
 * lead out of the site.
 */
export interface FileContent {
  /** Bytes and number of files. */
  size(directory: SitePlace): Promise<{ bytes: number; files: number }>
  /** Whether the disk has room for one more file of so many bytes, and the site may have it; a small one it may have anyway. @throws DiskFull */
  checkRoom(directory: SitePlace, bytes: number): Promise<void>
  /**
   * A folder, all that is in it, then its next neighbour; names of a folder in the order of their bytes (`comparePaths`). The site may write
   * meanwhile: what vanishes is left out.
   */
  walk(directory: SitePlace, options?: WalkOptions): AsyncIterable<SourceEntry>
  /**
   * Lays all that differs beside the site, which goes on meanwhile. A file with the stamp of a wanted one is the same, and is not read. What
   * the site changes afterwards is not seen: `switch` would leave it, or move it away with its folder. Who must not lose that calls it
   * once more when no PHP runs: it is then a walk, and what has changed since.
   * @throws DiskFull, FilesRefused for what cannot be wanted, and then nothing is left of it
   */
  prepare(directory: SitePlace, wanted: AsyncIterable<WantedEntry>, options: PrepareOptions): Promise<Prepared>
  /** What `prepare` would do, without doing it: nothing is written. */
  compare(directory: SitePlace, wanted: AsyncIterable<WantedEntry>, options: PrepareOptions): Promise<Prepared>
  /** Puts what was prepared in place; what was there is kept beside. No PHP of the site runs meanwhile. Cut off, it is completed by the same call, or taken back by `switchBack`. */
  switch(directory: SitePlace): Promise<void>
  /** Everything is as it was before `switch`. */
  switchBack(directory: SitePlace): Promise<void>
  /** Forgets what was prepared and what was kept. */
  cleanUp(directory: SitePlace): Promise<void>
  /** A whole copy for another site, whose web root is replaced: without reading where the file system can (reflink). The source may write meanwhile. */
  copy(
    from: SitePlace,
    to: SitePlace,
    options?: { signal?: AbortSignal; onProgress?: (doneBytes: number) => void },
  ): Promise<void>
}
