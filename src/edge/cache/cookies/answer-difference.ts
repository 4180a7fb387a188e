/** The parts of a site's answer that are compared. */
export interface ComparedAnswer {
  /** Whether it is a plain page for everyone, which may be stored. */
  readonly isShared: boolean
  readonly body: Buffer
}

/** A page that differs more than this from itself tells nothing about cookies. */
export const MOST_NOISE = 64

/**
 * Returns the number of pieces in which two answers differ: tags with the text after them, or lines. Order does not
 * matter. A page for everyone and an answer for one visitor differ in everything.
 */
export function differenceOf(first: ComparedAnswer, second: ComparedAnswer): number {
  if (first.isShared !== second.isShared) return Number.POSITIVE_INFINITY
  if (first.body.equals(second.body)) return 0
  const pieces = new Map<string, number>()
  for (const piece of piecesOf(first.body)) pieces.set(piece, (pieces.get(piece) ?? 0) + 1)
  let added = 0
  for (const piece of piecesOf(second.body)) {
    const left = pieces.get(piece) ?? 0
    if (left > 0) pieces.set(piece, left - 1)
    else added++
  }
  let removed = 0
  for (const left of pieces.values()) removed += left
  return Math.max(added, removed)
}

const piecesOf = (body: Buffer): string[] => body.toString('latin1').split(/(?=<)|\n/)
