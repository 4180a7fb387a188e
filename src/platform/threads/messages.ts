/*
 * The messages between a thread and its owner, in turns. The thread answers an order with requests or pieces, and
 * finally with its result. So neither side has more than one piece that the other has not taken.
 */

export type ToThread<Order> =
  | { readonly order: Order }
  /** The requested piece; undefined at the end. */
  | { readonly piece: Uint8Array | undefined }
  /** The piece was taken. */
  | { readonly taken: true }

export type FromThread =
  | { readonly wants: true }
  | { readonly gives: Uint8Array }
  | { readonly done: unknown }
  | { readonly failed: { readonly name: string; readonly message: string; readonly code?: string } }

/** Returns a copy that can be moved to another thread. For a part of a buffer, the whole buffer would be moved. */
export const copyToMove = (piece: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(piece)
