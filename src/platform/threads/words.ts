/*
 * What a thread and whoever has ordered something of it say to one another, by turns: an order is answered by what the thread wants or gives,
 * and at last by its result. So neither has more than one piece that the other has not taken.
 */

export type ToThread<Order> =
  | { readonly order: Order }
  /** What it wanted; undefined: there is no more. */
  | { readonly piece: Uint8Array | undefined }
  /** What it gave was taken. */
  | { readonly taken: true }

export type FromThread =
  | { readonly wants: true }
  | { readonly gives: Uint8Array }
  | { readonly done: unknown }
  | { readonly failed: { readonly name: string; readonly message: string; readonly code?: string } }

/** A copy that can be moved to another thread: of a part of a buffer, all of the buffer would cross. */
export const copyToMove = (piece: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(piece)
