import type { RepositoryKeys } from '../format/keys.ts'
import type { Pack } from '../format/pack.ts'

/** What a backup is written with. */
export interface WriterData {
  readonly keys: RepositoryKeys
  /** Names of chunks that are there, 32 bytes each. */
  readonly known: Uint8Array
}

/** How a piece of content is cut; `whole`: it is one chunk as it stands. */
export type Cutting = 'file' | 'stream' | 'whole'

/** The next bytes of one content. */
export interface Part {
  readonly content: number
  readonly cutting: Cutting
  /** A file that has them, open until the thread has answered or ended. Else they came along. */
  readonly fd?: number
  readonly start: number
  readonly end: number
  readonly isLast: boolean
}

/**
 * What the thread is sent: that a backup begins (`undefined`: that it is over, and nothing of it is to be remembered), parts, the memory of
 * a pack that was taken away, names of chunks (32 bytes each) that are not there after all, or that nothing more comes.
 */
export type ToWriter =
  | { readonly begin: WriterData | undefined }
  | { readonly bytes?: Uint8Array; readonly parts: readonly Part[] }
  | { readonly room: Uint8Array }
  | { readonly forget: Uint8Array }
  | { readonly finish: true }

export interface ChunkRef {
  readonly id: string
  readonly sizeBytes: number
}

/** What it sends: a pack, or that it has dealt with the next of what it was sent. Chunks of a content come when its last part was. */
export type FromWriter =
  | { readonly pack: Pack }
  | { readonly contents: readonly { readonly content: number; readonly chunks: readonly ChunkRef[] }[] }
  | { readonly finished: true }
