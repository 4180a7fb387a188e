import { OperatorError } from '../platform/operator-error.ts'

/*
 * Where backups are kept: chunks cut by content, compressed, encrypted, named by a keyed hash. The words:
 *
 * storage     where objects lie: a folder, or a bucket (S3). It may be slow, lose things and lie; what is read from it is checked.
 * repository  all backups of one owner: a site, a version of the core, Stead itself. Chunks are shared within it, and only there.
 * backup      what was written in one go and is complete: a tree of files, or one stream. It never changes afterwards.
 * chunk       a piece of content, and the smallest thing that is written anew when a byte changes.
 * stamp       what tells, without reading it, that a file is the same as when it was last backed up. Opaque here.
 */

/** One thing of a tree, as it is handed over to be kept. Paths are relative, `/`-separated, without empty, `.` or `..` parts. */
export type SourceEntry =
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number; readonly mtimeMs: number }
  | { readonly kind: 'link'; readonly path: string; readonly mtimeMs: number; readonly target: string }
  | SourceFile

export interface SourceFile {
  readonly kind: 'file'
  readonly path: string
  /** Permission bits. */
  readonly mode: number
  readonly mtimeMs: number
  readonly sizeBytes: number
  readonly stamp: string
  /**
   * The content, read only when no earlier backup has the same stamp at the same path. It may be longer or shorter than `sizeBytes` (a source
   * that changes under the copy): what was read is what is kept. It is opened again when what the storage seemed to have of it is damaged.
   * `undefined`: it is gone by now, and is left out.
   */
  open(): Promise<SourceContent | undefined>
}

/** A piece is valid until the next is asked for. */
export interface SourceContent extends AsyncIterable<Uint8Array> {
  /** Where it lies: whoever reads it there iterates over nothing. */
  readonly file?: OpenFile
}

/** Whoever takes it closes it. Its own position is nowhere. */
export interface OpenFile {
  readonly fd: number
  readonly sizeBytes: number
  close(): void
}

/** One thing of a tree, as it was kept. */
export type StoredEntry =
  | Extract<SourceEntry, { kind: 'folder' | 'link' }>
  | (Omit<SourceFile, 'open'> & { /** Content by chunk, in order: their ids. */ readonly chunks: readonly string[] })
export type StoredFile = Extract<StoredEntry, { kind: 'file' }>

export interface WriteOptions {
  /** The same name again is the same backup: what a retry finds complete is returned as it stands. `[a-z0-9-]+`. */
  readonly name: string
  readonly signal?: AbortSignal
  /** Bytes of the source that are dealt with, whether read or known. */
  readonly onProgress?: (doneBytes: number) => void
  /** Awaited between pieces of the work: others may go first. */
  readonly yieldWhileBusy?: () => Promise<void>
  /**
   * What is in the storage is read back while more is written; chunks that are what was written come into it, for `verify`. Default: nothing is.
   */
  readonly readBack?: Set<string>
  /**
   * Of a tree: how long a pack that was read back counts as sound, as long as the storage does not say that it was written since. Default: 0. Each
   * pack that the backup leans on is read back before it is put in place. A stream leans on packs unread: whoever writes one reads it whole.
   */
  readonly trustMs?: number
}

export interface BackupFacts {
  readonly name: string
  readonly kind: 'tree' | 'stream'
  /** Of the content, as it is read back. */
  readonly sizeBytes: number
  readonly files: number
  /** What the storage took for it that was not there already. */
  readonly addedBytes: number
  /** Milliseconds UTC. */
  readonly createdAt: number
}

export interface VerifyOptions {
  /**
   * Reads back what was written for this backup; of the rest, which was read back by the backup that wrote it, looks that its packs are there
   * in their length. So reading back costs what the backup cost. Default: all is read.
   */
  readonly only?: 'added'
  /** What was read back already, since it was written. */
  readonly readBack?: ReadonlySet<string>
  readonly signal?: AbortSignal
  readonly onProgress?: (doneBytes: number) => void
  /** Awaited between pieces of the work: others may go first. */
  readonly yieldWhileBusy?: () => Promise<void>
  /** Sees the content while it is read back: of a stream, to parse it to its end. A fault that it throws is thrown. */
  readonly onContent?: (piece: Uint8Array) => void | Promise<void>
}

export interface ListOptions {
  /** Is told the name of each that is there, and of which nothing more can be known. */
  readonly onDamaged?: (name: string, error: BackupDamaged) => void
}

/** All backups of one owner. One writer at a time is enough; readers may be many, also while chunks are swept. */
export interface BackupRepository {
  /** @throws StorageFailure, BackupDamaged; whatever the source throws */
  writeTree(entries: AsyncIterable<SourceEntry>, options: WriteOptions): Promise<BackupFacts>
  writeStream(content: AsyncIterable<Uint8Array>, options: WriteOptions): Promise<BackupFacts>
  find(name: string): Promise<BackupFacts | undefined>
  /** Oldest first. @throws BackupDamaged when the head of one cannot be read, unless there is `onDamaged`: then it is left out */
  list(options?: ListOptions): Promise<BackupFacts[]>
  /** Things of a tree in the order in which they were written. @throws BackupMissing, BackupDamaged */
  entries(name: string): AsyncIterable<StoredEntry>
  /** Content of a file of a tree, from a byte on. @throws BackupDamaged, which names the file and the chunk */
  readFile(file: StoredFile, options?: { start?: number }): AsyncIterable<Uint8Array>
  /** Content of a stream, from a byte on. */
  readStream(name: string, options?: { start?: number }): AsyncIterable<Uint8Array>
  /** Reads a backup whole: every chunk is there, authentic, and what its name says. @throws BackupDamaged with all that is wrong, named */
  verify(name: string, options?: VerifyOptions): Promise<BackupFacts>
  /**
   * Which backups have lost something that no pack has any more, as far as somebody has read the damage; a backup that is written afterwards may heal
   * them. @returns by name, what is lost first
   */
  damaged(options?: { signal?: AbortSignal }): Promise<ReadonlyMap<string, string>>
  /** After it the backup is not there; its chunks go with a later sweep. Of one that is not there: nothing. */
  remove(name: string): Promise<void>
  /** Takes away what no backup needs any more. Safe beside writers and readers. @returns what was freed */
  sweep(options?: { signal?: AbortSignal }): Promise<{ freedBytes: number }>
  /** What the storage holds for it. */
  storedBytes(): Promise<number>
}

/** All backups. Opened once in each process that reads or writes them. */
export interface BackupStore {
  /** @param owner `site-12`, `core-6.8.7`, `stead`: `[a-z0-9.-]+`. Nothing is written before the first backup. */
  repository(owner: string): BackupRepository
  /** Owners that have something in the storage. */
  owners(): Promise<string[]>
  /** After it the storage holds nothing of this owner. */
  removeOwner(owner: string): Promise<void>
}

/** The storage cannot be reached, refuses, or takes too long: another attempt may help. */
export class StorageFailure extends OperatorError {
  override readonly name = 'StorageFailure'
  override readonly exitCode = 1
}

/** There is no such backup. */
export class BackupMissing extends OperatorError {
  override readonly name = 'BackupMissing'
  override readonly exitCode = 1
}

/** Something of a backup is lost, or is not what was written. The message names each chunk, and whose it was. */
export class BackupDamaged extends OperatorError {
  override readonly name = 'BackupDamaged'
  override readonly exitCode = 1
}
