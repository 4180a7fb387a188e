import { type BrowserVisit, type BrowserVisitOptions, runInJail, unreadable } from './measure-page.ts'

export interface PagesToCompare extends BrowserVisit {
  readonly old: string
  readonly new: string
}

/** Two pages in one browser, without Lighthouse. */
const MOST_MS = 75_000

/**
 * Opens two pages in a jail of their own, one after the other, and compares what a visitor sees of them. The pictures never leave
 * the jail: no other process reads what a hostile page made.
 * @returns how much of the two pictures differs, in percent
 * @throws MeasureFailed
 */
export async function comparePictures(options: BrowserVisitOptions & Omit<PagesToCompare, 'siteId'>): Promise<number> {
  const task = [`--old=${options.old}`, `--new=${options.new}`]
  const found = (await runInJail({ mostMs: MOST_MS, ...options }, task)) as { readonly different?: unknown } | null
  const different = found?.different
  // a hostile page may have written it
  if (typeof different !== 'number' || !(different >= 0 && different <= 100)) throw unreadable()
  return Math.round(different * 10) / 10
}
