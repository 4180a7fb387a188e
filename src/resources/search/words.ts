const LONGEST = 64

/**
 * Returns the words of a text, each once, without case and accents. `Café-Shop.example` has `cafe`, `shop` and
 * `example`.
 */
export const foldedWords = (text: string): string[] => [
  ...new Set(
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.map((word) => word.slice(0, LONGEST)),
  ),
]
