import { type CountedTag, countedTags, type PageLook } from './look-at-page.ts'

/*
 * Compares a page with itself before an update. Several looks before the update show what changes anyway: that never
 * counts.
 */

/** The common part of several looks at a page. Null: two of them differ. */
export interface SteadyPage {
  readonly status: number | null
  readonly location: string | null
  readonly title: string | null
  /** The words of all. */
  readonly words: readonly string[]
  /** Elements that all have. */
  readonly tags: readonly CountedTag[]
  /** The slowest one. */
  readonly ms: number
}

/** So much of the words may be missing after an update: a plugin may say less than before. */
const MOST_LOST = 0.12
/** Fewer words are not enough to judge by their share. */
const LEAST_LOST = 5
/** A page is slow if it takes this many times as long, and this much longer. */
const SLOW = { times: 4, ms: 2000 }

export function steadyPart(one: PageLook, ...others: readonly PageLook[]): SteadyPage {
  const same = <Key extends 'status' | 'location' | 'title'>(key: Key) =>
    others.every((other) => other[key] === one[key]) ? one[key] : null
  const words = others.map((other) => new Set(other.words))
  return {
    status: same('status'),
    location: same('location'),
    title: same('title'),
    words: one.words.filter((word) => words.every((each) => each.has(word))),
    tags: countedTags.filter((tag) => [one, ...others].every(({ tags }) => tags[tag] > 0)),
    ms: Math.max(one.ms, ...others.map(({ ms }) => ms)),
  }
}

/** Pages that did not answer before are not judged. */
const isJudged = ({ status }: SteadyPage): boolean => status !== null && status !== 0 && status < 500

/** Returns whether a page answers in another way than before an update, so that its content says nothing. */
export const answersOtherwise = (before: SteadyPage, { status, location }: PageLook): boolean =>
  isJudged(before) && (status !== before.status || (before.location !== null && before.location !== location))

/**
 * Returns what is worse with a page after an update, each as a part of a sentence. The last look says how the page
 * answers. Content is missing if none of the looks has it, because a server also chooses by chance.
 */
export function worseIn(before: SteadyPage, ...looks: readonly [PageLook, ...PageLook[]]): string[] {
  const last = looks.at(-1) as PageLook
  if (!isJudged(before)) return []
  if (last.status === 0) return ['PHP does not answer']
  if (last.status !== before.status) return [`status ${before.status} became ${last.status}`]
  if (answersOtherwise(before, last))
    return [`it redirects to ${last.location || 'nowhere'} instead of ${before.location || 'nowhere'}`]
  const alike = looks.filter(({ status }) => status === last.status)
  const worse: string[] = []
  if (before.title !== null && alike.every(({ title }) => title !== before.title))
    worse.push(`the title “${before.title}” became “${last.title}”`)
  const words = new Set(alike.flatMap((look) => look.words))
  const lost = before.words.filter((word) => !words.has(word))
  if (lost.length >= LEAST_LOST && lost.length > before.words.length * MOST_LOST)
    worse.push(`${lost.length} of ${before.words.length} words are missing: ${lost.slice(0, 5).join(', ')}, …`)
  const gone = before.tags.filter((tag) => alike.every(({ tags }) => tags[tag] === 0))
  if (gone.length > 0) worse.push(`the page no longer has ${gone.map((tag) => `<${tag}>`).join(', ')}`)
  return worse
}

/** Returns whether a page takes much longer than before. That alone undoes nothing: the machine may be busy. */
export const isMuchSlower = (before: SteadyPage, after: Pick<PageLook, 'ms'>): boolean =>
  after.ms > before.ms * SLOW.times && after.ms > before.ms + SLOW.ms
