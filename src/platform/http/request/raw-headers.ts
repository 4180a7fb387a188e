/**
 * The first value of a header in raw pairs, flat; undefined when there is none.
 * @param lower its name in lower case
 */
export function headerOf(raw: readonly string[], lower: string): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === lower) return raw[i + 1]
  return undefined
}
