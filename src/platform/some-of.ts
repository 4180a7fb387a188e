/**
 * Names the first of many: `a, b, and 3 more`.
 * @param count if not all are listed
 * @returns an empty string for none
 */
export function someOf(all: readonly string[], most: number, { between = ', ', count = all.length } = {}): string {
  const named = all.slice(0, most)
  const rest = count - named.length
  return [...named, ...(rest > 0 ? [`and ${rest} more`] : [])].join(between)
}
