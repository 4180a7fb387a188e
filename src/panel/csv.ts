/** Returns a table as CSV (RFC 4180). A value that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}

/** Saves a file in the browser. */
export function save(name: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
