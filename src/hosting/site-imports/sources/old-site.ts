/** The running old site of an import, whichever way leads to it. It is hostile until proven otherwise. */

/** A file of the old site. */
export interface RemoteFile {
  /** Below `wp-content`. */
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
  /** Below `wp-content`; empty: `wp-content` itself. */
  readonly path: string
  /** Undefined: the old machine does not show them. */
  readonly entries: readonly RemoteEntry[] | undefined
}

/** Where the bytes of a file go. */
export interface FileSink {
  /** Bytes that are there already: fetching goes on behind them. */
  readonly at: number
  /** @throws OldSiteRefused when it is more than the file has */
  write(piece: Uint8Array): Promise<void>
  /** Puts the file in its place. */
  finish(): Promise<void>
  /** Closes it. What was written stays for another attempt. */
  close(): Promise<void>
}

/** What the old site says of itself. */
export interface OldSiteFacts {
  readonly prefix: string | null
  readonly wordpress: string | null
  readonly php: string | null
}

/** An open way to the old site. Methods throw `OldSiteRefused` and `OldSiteLost`. */
export interface OldSite {
  readonly facts: OldSiteFacts
  /** Lists folders, in any order. */
  list(folders: readonly string[]): AsyncIterable<RemoteFolder>
  /** Fetches files. @returns paths of those that the old machine does not give */
  fetch(files: readonly RemoteFile[], open: (file: RemoteFile) => Promise<FileSink>): Promise<readonly string[]>
  /** Takes a dump of the database, as SQL. Throws unless it is complete. */
  dump(): AsyncIterable<Uint8Array>
  close(): Promise<void>
}

/** The old site cannot be fetched, and another attempt changes nothing. The message may be shown to users. */
export class OldSiteRefused extends Error {
  override readonly name = 'OldSiteRefused'
}

/** The connection ended. Another one may continue. The message may be shown to users. */
export class OldSiteLost extends Error {
  override readonly name = 'OldSiteLost'
}

/** Replaces control characters in words of the old machine, and shortens them. */
export const wordsOfOldMachine = (text: string, most = 300): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}]+/gu, ' ')
    .trim()
    .slice(0, most)

/** Runs `work` for all items, so many at a time. Ends with the first failure, when nothing runs any more. */
export async function inParallel<Item>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  const faults: unknown[] = []
  const worker = async () => {
    for (const item of waiting) {
      if (faults.length > 0) return
      await work(item).catch((error) => faults.push(error))
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  if (faults.length > 0) throw faults[0]
}
