import type { RepositoryKeys } from '../format/keys.ts'
import type { Pack } from '../format/pack.ts'

/** The data for writing a backup. */
export interface WriterData {
  readonly keys: RepositoryKeys
  /** The names of existing chunks, 32 bytes each. */
  readonly known: Uint8Array
}

/** How content is cut. `whole` means one chunk. */
export type Cutting = 'file' | 'stream' | 'whole'

/** The next bytes of one content. */
export interface ContentPart {
  readonly content: number
  readonly cutting: Cutting
  /** A file with the bytes, open until the thread has answered or ended. Without it, the message contains them. */
  readonly fd?: number
  readonly start: number
  readonly end: number
  readonly isLast: boolean
}

/**
 * Messages to the thread. `begin`: a backup begins, or is over if `undefined`, so that the thread forgets it.
 * `again`: names of chunks (32 bytes each) that do not exist after all.
 */
export type ToWriter =
  | { readonly begin: WriterData | undefined }
  | { readonly bytes?: Uint8Array; readonly parts: readonly ContentPart[] }
  | { readonly room: Uint8Array }
  | { readonly forget: Uint8Array }
  | { readonly finish: true }

export interface ChunkRef {
  readonly id: string
  readonly sizeBytes: number
}

/**
 * Messages from the thread: a pack, or that it has finished the next message. The chunks of a content follow its last
 * part.
 */
export type FromWriter =
  | { readonly pack: Pack }
  | { readonly contents: readonly { readonly content: number; readonly chunks: readonly ChunkRef[] }[] }
  | { readonly finished: true }
