import { type BrowserVisitOptions, runInJail, unreadable } from './measure-page.ts'

/** A page that is one HTML text, and loads nothing. */
export interface PageToPrint {
  readonly html: string
  /** On whose behalf, so that nobody takes all turns. */
  readonly accountId: number
  readonly signal: AbortSignal
}

/** Returns a page as PDF. */
export type PrintPage = (page: PageToPrint) => Promise<Buffer>

/** Other pages of the account, or too many in total, are being printed. */
export class PrinterBusy extends Error {
  override readonly name = 'PrinterBusy'
}

/** Time without a processor does not count. */
const MOST_MS = 60_000
const MOST_PROCESSOR_MS = 60_000
const MOST_BYTES = 1024 << 20

/**
 * Prints a page as PDF in a jail of its own. It runs no script, and reaches nothing.
 * @throws MeasureFailed
 */
export async function printInJail({
  html,
  signal,
  chromium,
}: Pick<PageToPrint, 'html' | 'signal'> & Pick<BrowserVisitOptions, 'chromium'>): Promise<Buffer> {
  const limits = { mostMs: MOST_MS, mostProcessorMs: MOST_PROCESSOR_MS, mostBytes: MOST_BYTES }
  const reach = async () => undefined
  const found = (await runInJail({ ...limits, reach, signal, chromium, input: html }, ['--print'])) as {
    pdf?: unknown
  } | null
  const pdf = typeof found?.pdf === 'string' ? Buffer.from(found.pdf, 'base64') : Buffer.alloc(0)
  if (pdf.toString('latin1', 0, 5) !== '%PDF-') throw unreadable()
  return pdf
}

/** Of one account, and of all accounts together: the page that is being printed, and those that wait. */
const MOST_OF_ACCOUNT = 2
const MOST_OF_ALL = 8

/**
 * Limits how many pages wait for the printer.
 * @param print prints a page, one after the other
 */
export function limitPrinter(print: PrintPage): PrintPage {
  const waiting = new Map<number, number>()
  let all = 0
  return async (page) => {
    const own = waiting.get(page.accountId) ?? 0
    if (own >= MOST_OF_ACCOUNT || all >= MOST_OF_ALL) throw new PrinterBusy('Too many pages are being printed')
    waiting.set(page.accountId, own + 1)
    all++
    try {
      return await print(page)
    } finally {
      all--
      const left = (waiting.get(page.accountId) ?? 1) - 1
      if (left > 0) waiting.set(page.accountId, left)
      else waiting.delete(page.accountId)
    }
  }
}
