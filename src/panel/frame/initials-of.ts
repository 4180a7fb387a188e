/** Returns the first letters of a name or an address. */
export const initialsOf = (name: string): string =>
  (name.match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu) ?? []).slice(0, 2).join('').toUpperCase()
