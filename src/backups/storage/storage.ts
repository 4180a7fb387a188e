import { uncounted } from '../../platform/operations/definition.ts'
import { StorageFailure } from '../backup-store.ts'

/** The storage would refuse a retry as well: its disk is full, or it does not accept this installation. */
export class StorageRefusal extends StorageFailure {}

/** Nobody signs requests for the storage now. An operation that needs it waits, and its attempt does not count. */
export class StorageAway extends StorageFailure {
  readonly [uncounted] = true
}

/** An object of the storage, as a list names it. */
export interface StoredObject {
  readonly name: string
  readonly sizeBytes: number
  /** Milliseconds UTC, by the storage's clock. */
  readonly modifiedAt: number
}

/** The bytes of an object from `start` on. */
export interface ByteRange {
  readonly start: number
  /** To the end by default. */
  readonly length?: number
}

/**
 * A storage of objects. Names are `/`-separated. An object is written completely or not at all. After `put` returns, it
 * survives a power failure. An aborted write does not complete later, because its bytes may be reused by then. All
 * methods throw StorageFailure.
 */
export interface Storage {
  /** The place of the storage, for operators. */
  readonly where: string
  put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>
  /**
   * Does the same as `put`, but keeps an existing object.
   * @returns whether it was written
   */
  putOnce(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean>
  /** Returns the bytes; `undefined` if the object does not exist. */
  get(name: string, range?: ByteRange, signal?: AbortSignal): Promise<Buffer | undefined>
  /** Returns all objects whose names begin with that of a folder, which ends with `/`. They are in no order. */
  list(folder: string, signal?: AbortSignal): Promise<StoredObject[]>
  /** Returns the first parts of the names of all objects in folders. */
  folders(signal?: AbortSignal): Promise<string[]>
  /** Removes objects. A missing one counts as removed. */
  remove(names: readonly string[], signal?: AbortSignal): Promise<void>
}
