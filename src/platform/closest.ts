import { closestMatch } from 'leven'

/** What is most like a mistyped word: at most a third of its letters differ, and at least one may. */
export const closest = (word: string, candidates: readonly string[]): string | undefined =>
  closestMatch(word, candidates, { maxDistance: Math.max(1, Math.round(word.length / 3)) })
