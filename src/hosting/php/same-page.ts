import { createHash } from 'node:crypto'
import Type from 'typebox'
import type { FrontPage } from './front-page.ts'

/** Of longer pages the beginning is compared. */
const MOST_LINES = 2000

/** By what a page is known again. */
export const PageMarks = Type.Object({
  status: Type.Integer(),
  location: Type.String(),
  /** It goes to its end; one that PHP broke off does not. */
  isWhole: Type.Boolean(),
  /** Hashes of its lines, without those that are others each time. */
  lines: Type.Array(Type.String()),
})
export type PageMarks = Type.Static<typeof PageMarks>

/** What was compared, and found to be another. */
export interface Compared {
  readonly lines: number
  readonly changed: number
}

/** Marks of a page that was asked for twice: what differs between the two says nothing. */
export function marksOf(first: FrontPage, second: FrontPage): PageMarks {
  const again = new Set(linesOf(second.text))
  const lines = linesOf(first.text).filter((line) => again.has(line))
  return { status: first.status, location: first.location, isWhole: isWhole(first) && isWhole(second), lines }
}

/** Why a page is not the one that it was, in words for the site's owner; undefined for one whose lines alone may be others. */
export function otherPage(before: PageMarks, page: FrontPage): string | undefined {
  if (page.status !== before.status)
    return `its homepage responds with status ${page.status} there, but with ${before.status} here`
  if (page.location !== before.location) return 'its homepage redirects to another URL there'
  return before.isWhole && !isWhole(page) ? 'its homepage is incomplete there' : undefined
}

export function compareLines(before: PageMarks, page: FrontPage): Compared {
  const now = new Set(linesOf(page.text))
  return { lines: before.lines.length, changed: before.lines.filter((line) => !now.has(line)).length }
}

const isWhole = ({ text }: FrontPage): boolean => /<\/html>/i.test(text)

function linesOf(text: string): string[] {
  const lines = text.split('\n', MOST_LINES).map((line) => line.trim())
  return lines.filter(Boolean).map((line) => createHash('sha256').update(line).digest('base64url').slice(0, 8))
}
