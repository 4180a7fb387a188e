import { createHash } from 'node:crypto'
import Type from 'typebox'
import type { FrontPage } from './front-page.ts'

/** Of longer pages, only the beginning is compared. */
const MOST_LINES = 2000

/** The facts by which a page is recognized. */
export const PageMarks = Type.Object({
  status: Type.Integer(),
  location: Type.String(),
  /** Whether the page is complete. A page that PHP broke off is not. */
  isWhole: Type.Boolean(),
  /** Hashes of its lines, without those that change each time. */
  lines: Type.Array(Type.String()),
})
export type PageMarks = Type.Static<typeof PageMarks>

/** How many lines were compared, and how many had changed. */
export interface Compared {
  readonly lines: number
  readonly changed: number
}

/** Returns the marks of a page that was requested twice. Differences between the two are ignored. */
export function marksOf(first: FrontPage, second: FrontPage): PageMarks {
  const again = new Set(linesOf(second.text))
  const lines = linesOf(first.text).filter((line) => again.has(line))
  return { status: first.status, location: first.location, isWhole: isWhole(first) && isWhole(second), lines }
}

/**
 * Returns why a page differs from the earlier one, in words for the site's owner. Returns undefined if only lines may
 * differ.
 */
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
