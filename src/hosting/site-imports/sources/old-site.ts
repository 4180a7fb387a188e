/** The running old site of an import, for any way to reach it. It is hostile until proven otherwise. */

/** A file of the old site. */
export interface RemoteFile {
  /** A path below `wp-content`. */
  readonly path: string
  readonly sizeBytes: number
  /** In whole seconds. */
  readonly changedAt: number
}

export interface RemoteEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly sizeBytes: number
  readonly changedAt: number
}

export interface RemoteFolder {
  /** A path below `wp-content`. The empty path is `wp-content` itself. */
  readonly path: string
  /** Undefined if the old machine does not show them. */
  readonly entries: readonly RemoteEntry[] | undefined
}

/** The destination for the bytes of a file. */
export interface FileSink {
  /** The number of bytes already there. Fetching continues after them. */
  readonly at: number
  /** @throws OldSiteRefused when it is more than the file has */
  write(piece: Uint8Array): Promise<void>
  /** Moves the file to its place. */
  finish(): Promise<void>
  /** Closes it. Bytes that were written stay for another attempt. */
  close(): Promise<void>
}

/** Facts that the old site reports about itself. */
export interface OldSiteFacts {
  readonly prefix: string | null
  readonly wordpress: string | null
  readonly php: string | null
}

/** An open connection to the old site. Methods throw `OldSiteRefused` and `OldSiteLost`. */
export interface OldSite {
  readonly facts: OldSiteFacts
  /** Lists folders, in any order. */
  list(folders: readonly string[]): AsyncIterable<RemoteFolder>
  /**
   * Fetches files.
   * @returns paths of those that the old machine does not provide
   */
  fetch(files: readonly RemoteFile[], open: (file: RemoteFile) => Promise<FileSink>): Promise<readonly string[]>
  /** Dumps the database, as SQL. Throws unless the dump is complete. */
  dump(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** The old site cannot be fetched, and another attempt would not help. The message may be shown to users. */
export class OldSiteRefused extends Error {
  override readonly name = 'OldSiteRefused'
}

/** The connection ended. Another one may continue. The message may be shown to users. */
export class OldSiteLost extends Error {
  override readonly name = 'OldSiteLost'
}

/** Replaces control characters in text of the old machine, and shortens it. */
export const wordsOfOldMachine = (text: string, most = 300): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}]+/gu, ' ')
    .trim()
    .slice(0, most)
