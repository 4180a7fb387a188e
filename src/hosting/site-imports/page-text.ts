/** The parts of a page to compare. The page may be hostile: time and memory are in proportion to its length. */
export interface PageText {
  readonly title: string
  readonly words: ReadonlySet<string>
  /** Of its links, as they are written. */
  readonly links: readonly string[]
}

const MOST_WORDS = 20_000
const MOST_LINKS = 1000
/** A longer tag is skipped. */
const MOST_TAG = 4000
/** Browsers do not show the content of these. */
const hidden = /^(script|style|noscript|template)\b/i

export function readPage(html: string): PageText {
  const words = new Set<string>()
  const links: string[] = []
  let title: string | undefined
  for (const { text, tag, after } of piecesOf(html)) {
    addWords(words, text)
    if (/^title\b/i.test(tag)) title ??= html.slice(after, after + 500).split('<', 1)[0]
    const [, href] = links.length < MOST_LINKS ? (/^a\s(?:[^>]*\s)?href=["']([^"'#?]+)["']/i.exec(tag) ?? []) : []
    if (href !== undefined) links.push(href)
  }
  return { title: (title ?? '').replace(/\s+/g, ' ').trim().slice(0, 200), words, links }
}

interface Piece {
  /** Before the tag. */
  readonly text: string
  readonly tag: string
  /** Where the page continues. */
  readonly after: number
}

function* piecesOf(html: string): Generator<Piece> {
  const lower = html.toLowerCase()
  let at = 0
  while (at < html.length) {
    const start = html.indexOf('<', at)
    const end = start < 0 ? -1 : html.indexOf('>', start)
    if (end < 0) {
      yield { text: html.slice(at, start < 0 ? undefined : start), tag: '', after: html.length }
      return
    }
    const tag = end - start > MOST_TAG ? '' : html.slice(start + 1, end)
    yield { text: html.slice(at, start), tag, after: end + 1 }
    const [, name] = hidden.exec(tag) ?? []
    const close = name === undefined ? end : lower.indexOf(`</${name.toLowerCase()}`, end)
    if (close < 0) return
    at = name === undefined ? end + 1 : close
  }
}

function addWords(words: Set<string>, text: string): void {
  const shown = text.replace(/&#?\w{1,10};/g, ' ').toLowerCase()
  for (const [word] of shown.matchAll(/[\p{L}\p{N}]{3,}/gu)) {
    if (words.size >= MOST_WORDS) return
    words.add(word)
  }
}

/** How many of the words of two pages both have, in percent. */
export function sameWords(one: PageText, other: PageText): number {
  const [a, b] = [one.words, other.words]
  if (a.size === 0 && b.size === 0) return 100
  const both = [...a].filter((word) => b.has(word)).length
  return Math.round((100 * both) / (a.size + b.size - both))
}
