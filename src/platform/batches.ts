/** Cuts a list into lists of at most this size, in order. A list of rows can be too long for one statement. */
export const batches = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
