import { closestMatch } from 'leven'

/**
 * Returns the candidate that is most similar to a mistyped word. At most a third of its letters may differ, but at
 * least one.
 */
export const closest = (word: string, candidates: readonly string[]): string | undefined =>
  closestMatch(word, candidates, { maxDistance: Math.max(1, Math.round(word.length / 3)) })
