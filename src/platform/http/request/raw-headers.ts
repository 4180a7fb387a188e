/**
 * Returns the first value of a header in a flat list of raw pairs; undefined if it is absent.
 * @param lower its name in lower case
 */
export function headerOf(raw: readonly string[], lower: string): string | undefined {
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.toLowerCase() === lower) return raw[i + 1]
  return undefined
}
