/** The destination of a command's output. */
export interface Terminal {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  write(text: string): unknown
}

type Row = Readonly<Record<string, unknown>>

/** Removes characters that a terminal would obey, which a visitor's user agent or a site's log may contain. */
export const harmless = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd')

export const jsonOf = (value: unknown): string =>
  // JSON escapes characters below 0x20, but not these.
  JSON.stringify(value, null, 2).replace(/[\u007f-\u009f]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)

/** Returns the value at a path such as `tags.0.name`; `undefined` if it does not exist. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined
    at = (at as Record<string, unknown>)[name]
  }
  return at
}

/** Returns an object with some of its members, under the requested names. */
export const chosen = (value: unknown, fields: readonly string[]): Row =>
  Object.fromEntries(fields.map((field) => [field, valueAt(value, field) ?? null]))

/** The columns that come first if not all fit. */
const first = [
  'id',
  'name',
  'title',
  'domainName',
  'subject',
  'email',
  'username',
  'type',
  'state',
  'status',
  'url',
  'version',
]
const WIDEST_CELL = 50

/** Returns the answer of an operation for people. */
export function show(data: unknown, terminal: Terminal, fields?: readonly string[]): string {
  if (typeof data === 'string') return harmless(data)
  if (Array.isArray(data)) {
    if (data.length === 0) return terminal.isTTY ? '(none)' : ''
    const rows = data.map((each) => (typeof each === 'object' && each !== null ? (each as Row) : { value: each }))
    return table(rows, terminal, fields)
  }
  if (typeof data !== 'object' || data === null) return String(data)
  const lists = fields ? [] : Object.entries(data).filter(([, each]) => isTable(each))
  const listed = lists.map(([name]) => name)
  const own = flat(fields ? chosen(data, fields) : without(data as Row, listed))
  const width = Math.max(0, ...own.map(([name]) => name.length))
  const lines = own.map(([name, value]) => `${name.padEnd(width)}  ${harmless(value)}`.trimEnd())
  return [lines.join('\n'), ...lists.map(([name, rows]) => `${name}:\n${table(rows as Row[], terminal)}`)]
    .join('\n\n')
    .trim()
}

/** Returns whether a value is a list of things with more than a name. */
const isTable = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.some(
    (each) =>
      typeof each === 'object' && each !== null && Object.keys(each).some((name) => !['id', 'name'].includes(name)),
  )

const without = (row: Row, names: readonly string[]): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

/**
 * Returns one line for each field. Nested fields have their own line, `capacity.sites.total`. Lists of objects are
 * tables below.
 */
function flat(row: Row, before = ''): [string, string][] {
  return Object.entries(row).flatMap(([name, value]): [string, string][] => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isObject) return flat(value as Row, `${before}${name}.`)
    const cell = cellOf(value)
    return cell === undefined ? [] : [[`${before}${name}`, cell]]
  })
}

/** @returns undefined for a value that does not fit in a cell */
function cellOf(value: unknown): string | undefined {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) {
    const names = value.map((each) => (typeof each === 'object' && each !== null ? (each as Row).name : each))
    return names.every((name) => typeof name !== 'object' && name !== undefined) ? names.join(', ') : undefined
  }
  return typeof value === 'object' ? undefined : String(value)
}

/** Returns as many columns as fit, the most useful first. Outside a terminal it returns all, separated by tabs. */
function table(rows: readonly Row[], terminal: Terminal, fields?: readonly string[]): string {
  const all = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const rank = (name: string) => (first.includes(name) ? first.indexOf(name) : first.length)
  const names =
    fields ??
    all.filter((name) => rows.every((row) => cellOf(row[name]) !== undefined)).sort((a, b) => rank(a) - rank(b))
  const cells = rows.map((row) =>
    names.map((name) => oneLine(cellOf(valueAt(row, name)) ?? JSON.stringify(valueAt(row, name)))),
  )
  if (!terminal.isTTY) return [names, ...cells].map((line) => line.join('\t')).join('\n')
  const widths = names.map((name, n) =>
    Math.min(WIDEST_CELL, Math.max(name.length, ...cells.map((line) => [...(line[n] as string)].length))),
  )
  const shown = fields ? names.length : howMany(widths, terminal.columns || 80)
  return [names.map((name) => name.toUpperCase()), ...cells]
    .map((line) =>
      line
        .slice(0, shown)
        .map((cell, n) => fitted(cell, widths[n] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function howMany(widths: readonly number[], room: number): number {
  const ends = widths.map((_, n) => widths.slice(0, n + 1).reduce((sum, width) => sum + width + 2, -2))
  return Math.max(1, ends.filter((end) => end <= room).length)
}

const oneLine = (text: string): string => harmless(text.replace(/\s+/g, ' '))

function fitted(text: string, width: number): string {
  const letters = [...text]
  return letters.length > width ? `${letters.slice(0, width - 1).join('')}…` : text + ' '.repeat(width - letters.length)
}
