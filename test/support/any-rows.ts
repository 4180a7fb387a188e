/** Rows with unusual values that MariaDB's columns can also hold, as SQLite stores them. */
import fc from 'fast-check'
import { type ColumnDefinition, sqliteTypes, type TableDefinition } from '../../src/hosting/site-database/sql/table.ts'

export type Cell = null | bigint | number | string | Uint8Array

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    '',
    "'",
    "''",
    '\\',
    "\\'",
    '\\0',
    '%_',
    '\0',
    '\n\r\t\u001a',
    '"',
    '`',
    '😀 é \u{10ffff}',
    ';\n-- Dump completed',
    '/*!40101 x */',
    "'); DROP TABLE x; --",
    'NULL',
    '0',
  ),
  fc.string({ unit: fc.constantFrom("'", '\\', 'ü', '\n', 'a'), maxLength: 20 }),
)
const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.constant(new Uint8Array([0, 0xff, 0x27, 0x5c, 0x0a, 0x1a])),
)

const ranges: Readonly<Record<string, number>> = { tinyint: 7, smallint: 15, mediumint: 23, int: 31, bigint: 63 }

const latin = /^[ -~\u00a0-\u00ff]*$/

function anyCell(column: ColumnDefinition): fc.Arbitrary<Cell> {
  const { dataType, size, isUnsigned, charset } = column
  const bits = ranges[dataType]
  if (bits !== undefined) {
    const most = 2n ** BigInt(bits) - 1n
    return fc.oneof(fc.bigInt({ min: isUnsigned ? 0n : -most - 1n, max: most }), fc.constantFrom(0n, 1n, most))
  }
  const long = (most: number) =>
    anyText.map((text) => [...text].slice(0, most).join('')).filter((text) => charset !== 'latin1' || latin.test(text))
  const values: Record<string, fc.Arbitrary<Cell>> = {
    bit: fc.bigInt({ min: 0n, max: 255n }),
    // MySQL prints six digits of it
    float: fc.integer({ min: -999, max: 999 }).map((number) => number / 8),
    double: fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    decimal: fc.integer().map((number) => number / 100),
    // trailing spaces do not belong to a CHAR in MySQL
    char: long(10).map((text) => text.replace(/[ \0]+$/, '')),
    varchar: long(Number(size ?? 1)),
    enum: fc.constantFrom('a', "it's", 'ü'),
    set: fc.constantFrom('', 'x', 'x,z'),
    json: fc.json(),
    date: fc.constantFrom('0000-00-00', '2026-02-28', '1000-01-01', '9999-12-31'),
    time: fc.constantFrom('00:00:00', '-838:59:59', '23:59:59'),
    datetime: fc.constantFrom('0000-00-00 00:00:00', '2026-03-29 02:30:00', '9999-12-31 23:59:59'),
    timestamp: fc.constantFrom('0000-00-00 00:00:00', '2026-03-29 02:30:00', '1970-01-01 00:00:01'),
    year: fc.constantFrom('2026', '1901', '0000'),
    // MySQL pads it with zero bytes
    binary: fc.uint8Array({ minLength: 8, maxLength: 8 }),
    varbinary: anyBytes,
    tinyblob: anyBytes,
    blob: anyBytes,
    longblob: anyBytes,
  }
  return values[dataType] ?? long(60)
}

/** Columns of unique keys contain no value twice. */
export function anyRows(table: TableDefinition): fc.Arbitrary<Cell[][]> {
  const cells = table.columns.map((column) => {
    const cell = anyCell(column)
    return column.isNullable ? fc.oneof({ weight: 4, arbitrary: cell }, fc.constant(null)) : cell
  })
  const unique = table.keys.filter(({ kind }) => kind === 'primary' || kind === 'unique')
  const places = unique.map(({ parts }) =>
    parts.map((part) => table.columns.findIndex(({ name }) => name === part.column)),
  )
  return fc.array(fc.tuple(...cells), { maxLength: 12 }).map((rows) => {
    const taken = new Set<string>()
    return rows.filter((row) => {
      const keys = places.map((columns, key) => `${key}:${columns.map((at) => folded(row[at] as Cell)).join('\u0001')}`)
      if (keys.some((key) => taken.has(key))) return false
      for (const key of keys) taken.add(key)
      return true
    })
  })
}

/** What collations may treat as equal. */
function folded(cell: Cell): string {
  if (typeof cell !== 'string')
    return cell instanceof Uint8Array ? Buffer.from(cell).toString('hex').slice(0, 40) : String(cell)
  const letters = cell
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
  return [...letters].slice(0, 20).join('')
}

export const isText = ({ dataType }: ColumnDefinition): boolean => sqliteTypes[dataType] === 'TEXT'
