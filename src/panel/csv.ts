import type { Got } from './api.ts'

/** The most rows of one export. A page of the API has 50. */
export const MOST_ROWS = 2000

/** Returns a table as CSV (RFC 4180). A value that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** Reads a list by IDs, newest first, until its end or the row limit. */
export async function readAll<Row>(
  read: (after: number) => Promise<Got<readonly Row[]>>,
): Promise<{ readonly rows: readonly Row[]; readonly isCut: boolean }> {
  const rows: Row[] = []
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { data, next }: Got<readonly Row[]> = await read(after)
    rows.push(...data)
    if (next !== undefined && rows.length >= MOST_ROWS) return { rows, isCut: true }
    after = next
  }
  return { rows, isCut: false }
}

/** Saves a file in the browser. */
export function save(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
