import { OperatorError } from '../platform/operator-error.ts'

/*
 * The store of backups: chunks that are cut by content, compressed, encrypted, and named by a keyed hash. The terms:
 *
 * storage     the place of objects: a folder, or a bucket (S3). It may be slow, lose objects, and return wrong data.
 *             Stead checks all data that it reads.
 * repository  all backups of one owner: a site, a version of the core, Stead itself. Chunks are shared only within it.
 * backup      a complete tree of files or stream that was written in one go. It never changes afterwards.
 * chunk       a piece of content, and the smallest unit that is rewritten when a byte changes.
 * stamp       shows, without reading it, that a file has not changed since it was last backed up. Opaque here.
 */

/** One entry of a tree, as passed to the store. Paths are relative, `/`-separated, without empty, `.` or `..` parts. */
export type SourceEntry =
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number; readonly mtimeMs: number }
  | { readonly kind: 'link'; readonly path: string; readonly mtimeMs: number; readonly target: string }
  | SourceFile

export interface SourceFile {
  readonly kind: 'file'
  readonly path: string
  /** The permission bits. */
  readonly mode: number
  readonly mtimeMs: number
  readonly sizeBytes: number
  readonly stamp: string
  /**
   * Opens the content. It is read only if no earlier backup has the same stamp at the same path. It may be longer or
   * shorter than `sizeBytes`, if a source changes during the copy: the bytes that were read are stored. It is opened
   * again if the storage's copy turns out to be damaged. `undefined` means that the file is gone, and is left out.
   */
  open(): Promise<SourceContent | undefined>
}

/** A piece is valid until the next one is requested. */
export interface SourceContent extends AsyncIterable<Uint8Array> {
  /** The open file. A reader that reads it directly gets nothing from the iteration. */
  readonly file?: SourceHandle
}

/** An open file, which its taker must close. Its file position is never used. */
export interface SourceHandle {
  readonly fd: number
  readonly sizeBytes: number
  close(): void
}

/** One entry of a tree, as stored. */
export type StoredEntry =
  | Extract<SourceEntry, { kind: 'folder' | 'link' }>
  | (Omit<SourceFile, 'open'> & {
      /** The ids of the content's chunks, in order. */ readonly chunks: readonly string[]
    })
export type StoredFile = Extract<StoredEntry, { kind: 'file' }>

export interface WriteOptions {
  /** The same name means the same backup: a retry returns a complete one unchanged. `[a-z0-9-]+`. */
  readonly name: string
  readonly signal?: AbortSignal
  /** Called with the number of source bytes done, whether read or known. */
  readonly onProgress?: (doneBytes: number) => void
  /** Awaited between pieces of the work, so that others may go first. */
  readonly yieldWhileBusy?: () => Promise<void>
  /**
   * If set, the storage is read back while more is written. The set receives chunks that match the written ones, for
   * `verify`. Nothing is read back by default.
   */
  readonly readBack?: Set<string>
  /**
   * For a tree: how long a pack that was read back counts as sound, unless the storage reports that it was written
   * since. 0 by default. Each pack that the backup reuses is read back before the backup is completed. A stream reuses
   * packs unread, because the writer of a stream reads all of it afterwards.
   */
  readonly trustMs?: number
}

export interface BackupFacts {
  readonly name: string
  readonly kind: 'tree' | 'stream'
  /** The size of the content, as it is read back. */
  readonly sizeBytes: number
  readonly files: number
  /** The bytes that the storage added for it. */
  readonly addedBytes: number
  /** Milliseconds UTC. */
  readonly createdAt: number
}

export interface VerifyOptions {
  /**
   * Reads back only the data written for this backup. For the rest, which the backup that wrote it has read back, it
   * checks that the packs exist in full length. So a verification costs as much as the backup. By default, everything
   * is read.
   */
  readonly only?: 'added'
  /** The chunks that were already read back since they were written. */
  readonly readBack?: ReadonlySet<string>
  readonly signal?: AbortSignal
  readonly onProgress?: (doneBytes: number) => void
  /** Awaited between pieces of the work, so that others may go first. */
  readonly yieldWhileBusy?: () => Promise<void>
  /** Receives the content while it is read back: for a stream, to parse it to its end. Its errors are rethrown. */
  readonly onContent?: (piece: Uint8Array) => void | Promise<void>
}

export interface ListOptions {
  /** Called with the name of each backup that exists but cannot be read. */
  readonly onDamaged?: (name: string, error: BackupDamaged) => void
}

/** All backups of one owner. It needs only one writer at a time. There may be many readers, even during a sweep. */
export interface BackupRepository {
  /** @throws StorageFailure, BackupDamaged, and the source's errors */
  writeTree(entries: AsyncIterable<SourceEntry>, options: WriteOptions): Promise<BackupFacts>
  writeStream(content: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<BackupFacts>
  find(name: string): Promise<BackupFacts | undefined>
  /**
   * Returns backups, oldest first.
   * @throws BackupDamaged when the head of one cannot be read; with `onDamaged` it is left out instead
   */
  list(options?: ListOptions): Promise<BackupFacts[]>
  /**
   * Yields the entries of a tree in the order in which they were written.
   * @throws BackupMissing, BackupDamaged
   */
  entries(name: string): AsyncIterable<StoredEntry>
  /**
   * Yields the content of a file of a tree, from a byte on.
   * @throws BackupDamaged, which names the file and the chunk
   */
  readFile(file: StoredFile, options?: { start?: number }): AsyncIterable<Uint8Array>
  /** Yields the content of a stream, from a byte on. */
  readStream(name: string, options?: { start?: number }): AsyncIterable<Uint8Array>
  /**
   * Reads a whole backup, to check that every chunk exists, is authentic, and matches its name.
   * @throws BackupDamaged with the names of all faults
   */
  verify(name: string, options?: VerifyOptions): Promise<BackupFacts>
  /**
   * Returns the backups that have lost something that no pack contains any longer, as far as a reader has found the
   * damage. A later backup may heal them.
   * @returns by name, the first loss
   */
  damaged(options?: { signal?: AbortSignal }): Promise<ReadonlyMap<string, string>>
  /** Removes a backup; a later sweep deletes its chunks. Does nothing for a backup that does not exist. */
  remove(name: string): Promise<void>
  /**
   * Deletes everything that no backup needs any longer. Safe alongside writers and readers.
   * @returns the number of freed bytes
   */
  sweep(options?: { signal?: AbortSignal }): Promise<{ freedBytes: number }>
  /** Returns when the newest backup was written, by the clock of the storage. `undefined` if there is none. */
  newestAt(): Promise<number | undefined>
  /** Returns the bytes that the storage holds for it. */
  storedBytes(): Promise<number>
}

/** All backups. Opened once in each process that reads or writes them. */
export interface BackupStore {
  /** @param owner `site-12`, `core-6.8.7`, `stead`: `[a-z0-9.-]+`; nothing is written before the first backup */
  repository(owner: string): BackupRepository
  /** Returns the owners that have objects in the storage. */
  owners(): Promise<string[]>
  /** Deletes everything of this owner from the storage. */
  removeOwner(owner: string): Promise<void>
}

/** The storage is unreachable, refuses, or takes too long. A retry may help. */
export class StorageFailure extends OperatorError {
  override readonly name = 'StorageFailure'
  override readonly exitCode = 1
}

/** The backup does not exist. */
export class BackupMissing extends OperatorError {
  override readonly name = 'BackupMissing'
  override readonly exitCode = 1
}

/**
 * Part of a backup is lost, or differs from what was written. The message names each chunk, and the file that it
 * belongs to.
 */
export class BackupDamaged extends OperatorError {
  override readonly name = 'BackupDamaged'
  override readonly exitCode = 1
}
