import { StorageFailure } from '../backup-store.ts'

/** The storage will say no again: its disk is full, or it does not know this Stead. */
export class StorageRefusal extends StorageFailure {}

/** An object of the storage, as a list names it. */
export interface StoredObject {
  readonly name: string
  readonly sizeBytes: number
  /** Milliseconds UTC, by the storage's clock. */
  readonly modifiedAt: number
}

/** Bytes of an object: from `start` on. */
export interface ByteRange {
  readonly start: number
  /** Default: to the end. */
  readonly length?: number
}

/**
 * Where objects lie. Names are `/`-separated. An object is written whole or not at all, and is there when `put` has returned, also after losing
 * power. What is given up by its signal comes to no end later: its bytes may be used for something else by then. All throw StorageFailure.
 */
export interface Storage {
  /** For people: where this is. */
  readonly where: string
  put(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>
  /** As `put`, but what is there already stays. @returns whether it was written */
  putOnce(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<boolean>
  /** `undefined`: there is no such object. */
  get(name: string, range?: ByteRange, signal?: AbortSignal): Promise<Buffer | undefined>
  /** All objects whose names begin with a folder's, which ends with `/`; in no order. */
  list(folder: string, signal?: AbortSignal): Promise<StoredObject[]>
  /** First parts of the names of all objects that lie in a folder. */
  folders(signal?: AbortSignal): Promise<string[]>
  /** What is not there is removed already. */
  remove(names: readonly string[], signal?: AbortSignal): Promise<void>
}
