import { type CountedTag, countedTags, type PageLook } from './look-at-page.ts'

/*
 * Compares a page with itself before an update. Two looks before the update show what changes anyway: that never
 * counts.
 */

/** The common part of two looks at a page. Null: the two differ. */
export interface SteadyPage {
  readonly status: number | null
  readonly location: string | null
  readonly title: string | null
  /** The words of both. */
  readonly words: readonly string[]
  /** Elements that both have. */
  readonly tags: readonly CountedTag[]
  /** The slower one. */
  readonly ms: number
}

/** So much of the words may be missing after an update: a plugin may say less than before. */
const MOST_LOST = 0.12
/** Fewer words are not enough to judge by their share. */
const LEAST_LOST = 5
/** A page is slow if it takes this many times as long, and this much longer. */
const SLOW = { times: 4, ms: 2000 }

export function steadyPart(one: PageLook, other: PageLook): SteadyPage {
  const same = <Key extends 'status' | 'location' | 'title'>(key: Key) => (one[key] === other[key] ? one[key] : null)
  const words = new Set(other.words)
  return {
    status: same('status'),
    location: same('location'),
    title: same('title'),
    words: one.words.filter((word) => words.has(word)),
    tags: countedTags.filter((tag) => one.tags[tag] > 0 && other.tags[tag] > 0),
    ms: Math.max(one.ms, other.ms),
  }
}

/**
 * Returns what is worse with a page after an update, each as a part of a sentence. Pages that did not answer before are
 * not judged.
 */
export function worseIn(before: SteadyPage, after: PageLook): string[] {
  if (before.status === null || before.status === 0 || before.status >= 500) return []
  if (after.status === 0) return ['PHP does not answer']
  if (after.status !== before.status) return [`status ${before.status} became ${after.status}`]
  if (before.location !== null && before.location !== after.location)
    return [`it redirects to ${after.location || 'nowhere'} instead of ${before.location || 'nowhere'}`]
  const worse: string[] = []
  if (before.title !== null && before.title !== after.title)
    worse.push(`the title “${before.title}” became “${after.title}”`)
  const words = new Set(after.words)
  const lost = before.words.filter((word) => !words.has(word))
  if (lost.length >= LEAST_LOST && lost.length > before.words.length * MOST_LOST)
    worse.push(`${lost.length} of ${before.words.length} words are missing: ${lost.slice(0, 5).join(', ')}, …`)
  const gone = before.tags.filter((tag) => after.tags[tag] === 0)
  if (gone.length > 0) worse.push(`the page no longer has ${gone.map((tag) => `<${tag}>`).join(', ')}`)
  return worse
}

/** Returns whether a page takes much longer than before. That alone undoes nothing: the machine may be busy. */
export const isMuchSlower = (before: SteadyPage, after: Pick<PageLook, 'ms'>): boolean =>
  after.ms > before.ms * SLOW.times && after.ms > before.ms + SLOW.ms
