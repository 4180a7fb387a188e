import type { RewriteAddress } from '../site-database/rewrite.ts'
import { isUtf8, MOST_INSERT_BYTES } from '../site-database/sql/dump-text.ts'
import type { DumpEvent, Value } from '../site-database/sql/read-dump.ts'
import { type ColumnDefinition, sqliteTypes, type TableDefinition } from '../site-database/sql/table.ts'
import { UnreadableSql } from '../site-database/sql/tokens.ts'
import { writeTable } from '../site-database/sql/write-table.ts'
import { bytesOf, named } from './connect.ts'

type Row = Extract<DumpEvent, { kind: 'row' }>

interface Target {
  readonly table: TableDefinition
  /** By the names that a row has. */
  readonly shapes: Map<string, Shape>
}

/** Which values of a row go into which columns. Those that are computed have no value of their own, whatever a dump says. */
interface Shape {
  readonly head: string
  readonly columns: readonly ColumnDefinition[]
}

/**
 * Statements that make the tables of a dump and put its rows in. Nothing of the dump's own text is among them: they are written anew of what was
 * understood of it. Their characters are bytes.
 */
export class LoadStatements {
  tables = 0
  rows = 0
  readonly #wanted: ReadonlySet<string> | null
  readonly #rewrite: RewriteAddress
  /** By lower-case name; undefined: a table of the dump that is not wanted. */
  readonly #targets = new Map<string, Target | undefined>()
  #ready: string[] = []
  #shape: Shape | undefined
  #tuples: string[] = []
  #bytes = 0

  constructor(wanted: readonly string[] | undefined, rewrite: RewriteAddress) {
    this.#wanted = wanted ? new Set(wanted.map((name) => name.toLowerCase())) : null
    this.#rewrite = rewrite
  }

  /** @throws UnreadableSql */
  take(event: DumpEvent): void {
    if (event.kind === 'create') this.#create(event.table)
    else if (event.kind === 'row') this.#insert(event)
    else if (this.#isWanted(event.table)) this.#drop(event.table)
  }

  /** Those that are complete, in their order; they are asked for once. */
  ready(): string[] {
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  /** Nothing more comes. @throws UnreadableSql when a table that is wanted is not in the dump */
  end(): void {
    this.#flush()
    for (const name of this.#wanted ?? [])
      if (!this.#targets.has(name)) throw new UnreadableSql(`It has no table ${name}`)
  }

  #isWanted(name: string): boolean {
    // it may have to go back into an SQLite file, where these are the plugin's
    if (/^(_wp_sqlite_|sqlite_)/i.test(name)) throw new UnreadableSql(`A table may not be called ${name}`)
    return this.#wanted === null || this.#wanted.has(name.toLowerCase())
  }

  #drop(name: string): void {
    this.#flush()
    this.#ready.push(`DROP TABLE IF EXISTS ${named(name)}`)
  }

  #create(table: TableDefinition): void {
    const name = table.name.toLowerCase()
    if (this.#targets.has(name)) throw new UnreadableSql(`There are two tables ${table.name}`)
    if (!this.#isWanted(table.name)) {
      this.#targets.set(name, undefined)
      return
    }
    this.#drop(table.name)
    // the only kind of table of which a dump can be of one moment
    this.#ready.push(bytesOf(writeTable({ ...table, engine: 'InnoDB' })))
    this.#targets.set(name, { table, shapes: new Map() })
    this.tables++
  }

  #insert(row: Row): void {
    const name = row.table.toLowerCase()
    if (!this.#targets.has(name)) throw new UnreadableSql(`There are rows of ${row.table}, which is not there`)
    const target = this.#targets.get(name)
    if (!target) return
    const shape = this.#shapeOf(target, row)
    if (shape !== this.#shape || this.#bytes > MOST_INSERT_BYTES) this.#flush()
    this.#shape = shape
    const values: string[] = []
    for (const [at, value] of row.values.entries()) {
      const column = shape.columns[at] as ColumnDefinition
      if (!column.generated) values.push(this.#literal(value, column))
    }
    const tuple = `(${values.join(',')})`
    this.#tuples.push(tuple)
    this.#bytes += tuple.length
    this.rows++
  }

  #flush(): void {
    if (this.#shape && this.#tuples.length > 0) this.#ready.push(this.#shape.head + this.#tuples.join(','))
    this.#shape = undefined
    this.#tuples = []
    this.#bytes = 0
  }

  #shapeOf({ table, shapes }: Target, { columns: names, values }: Row): Shape {
    const key = names?.join('\0') ?? ''
    let shape = shapes.get(key)
    if (!shape) {
      const columns = names
        ? names.map((name) => columnOf(table, name))
        : table.columns.filter(({ generated }) => !generated)
      const into = columns.filter(({ generated }) => !generated).map(({ name }) => named(name))
      shape = { head: `INSERT INTO ${named(table.name)} (${into.join(',')}) VALUES `, columns }
      shapes.set(key, shape)
    }
    if (shape.columns.length !== values.length)
      throw new UnreadableSql(`A row of ${table.name} has not as many values as columns`)
    return shape
  }

  #literal(value: Value, column: ColumnDefinition): string {
    if (value.kind === 'null') return 'NULL'
    const type = sqliteTypes[column.dataType]
    const isNumber = type === 'INTEGER' || type === 'REAL'
    if (value.kind === 'number' && (isNumber || type === undefined)) return numberText(value.text, column)
    const bytes = value.kind === 'number' ? Buffer.from(value.text) : value.bytes
    // as a text it would be read as digits
    if (value.kind === 'bits' && isNumber) return `0x${Buffer.from(bytes).toString('hex') || '00'}`
    const rewritten = isNumber ? bytes : this.#rewrite(bytes)
    const isBytes = column.dataType === 'bit' || type === 'BLOB' || !isUtf8(rewritten)
    return `${isBytes ? '_binary ' : ''}'${escaped(rewritten)}'`
  }
}

function columnOf(table: TableDefinition, name: string): ColumnDefinition {
  const found = table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase())
  if (!found) throw new UnreadableSql(`${table.name} has no column ${name}`)
  return found
}

/** It stands without quotes, so nothing else may stand there. */
function numberText(text: string, { name }: ColumnDefinition): string {
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text))
    throw new UnreadableSql(`${name} has a value that is no number`)
  return text
}

const letters: Readonly<Record<string, string>> = {
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\u001a': '\\Z',
  '"': '\\"',
  "'": "\\'",
  '\\': '\\\\',
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const special = /[\0\n\r\u001a"'\\]/g

const escaped = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .replace(special, (letter) => letters[letter] as string)
