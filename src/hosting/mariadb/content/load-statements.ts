import { isUtf8 } from 'node:buffer'
import type { RewriteAddress } from '../../site-database/rewrite-addresses.ts'
import type { DumpTarget } from '../../site-database/sql/dump-tables.ts'
import { ESCAPES, MOST_INSERT_BYTES } from '../../site-database/sql/dump-text.ts'
import type { OnDuplicate, Value } from '../../site-database/sql/read-dump.ts'
import { UnreadableSql } from '../../site-database/sql/sql-tokens.ts'
import { type ColumnDefinition, sqliteTypes, type TableDefinition } from '../../site-database/sql/table.ts'
import { writeChange, writeTable } from '../../site-database/sql/write-table.ts'
import { bytesOf, named } from '../server/connect.ts'
import { choiceIn, type MayWarn } from './load-warnings.ts'

/** Maps the values of a row to columns. Generated columns get no value, whatever a dump says. */
interface Shape {
  readonly head: string
  readonly tail: string
  readonly columns: readonly ColumnDefinition[]
  /** Generated columns of the whole table. The server computes them on insert, and may warn about them. */
  readonly generated: ReadonlySet<string>
  readonly mostRows: number
  readonly ignoresRows: boolean
}

/** A statement, and the warnings that it may cause without changing any value. */
export interface LoadStatement {
  readonly sql: string
  /** Set for an INSERT. */
  readonly mayWarn?: MayWarn
  /**
   * Set for a table that this server may not accept unchanged: the same table without features that only MariaDB has.
   */
  readonly otherwise?: { readonly sql: string; readonly table: TableDefinition }
}

const VERBS: Readonly<Record<string, string>> = { ignore: 'INSERT IGNORE', replace: 'REPLACE' }

function updating(onDuplicate: OnDuplicate | undefined): string {
  if (typeof onDuplicate !== 'object') return ''
  const names = onDuplicate.update.map(named)
  return ` ON DUPLICATE KEY UPDATE ${names.map((name) => `${name}=VALUES(${name})`).join(',')}`
}

/** A server reports at most 65,535 warnings per statement. */
const MOST_WARNING_VALUES = 20_000

/**
 * Creates the statements that create a dump's tables and insert its rows. None of the dump's own text is in them: they
 * are written from the parsed content. Each character is a byte.
 */
export class LoadStatements implements DumpTarget<Shape> {
  readonly #rewrite: RewriteAddress
  #ready: LoadStatement[] = []
  #shape: Shape | undefined
  #tuples: string[] = []
  #emptyChoices = new Set<string>()
  #bytes = 0

  constructor(rewrite: RewriteAddress) {
    this.#rewrite = rewrite
  }

  /** Returns the complete statements in order. Each is returned once. */
  ready(): LoadStatement[] {
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  /** Completes the last statement. */
  end(): void {
    this.#flush()
  }

  drop(name: string): void {
    this.say(`DROP TABLE IF EXISTS ${named(name)}`)
  }

  /** Adds a statement after all earlier ones. */
  say(statement: string): void {
    this.#flush()
    this.#ready.push({ sql: statement })
  }

  create(table: TableDefinition): void {
    // The only engine whose tables can be dumped at one moment in time.
    const sql = bytesOf(writeTable(countable({ ...table, engine: 'InnoDB' })))
    if (table.ownText === undefined) this.#ready.push({ sql })
    else this.#ready.push({ sql: bytesOf(table.ownText), otherwise: { sql, table } })
  }

  empty(name: string): void {
    this.say(`DELETE FROM ${named(name)}`)
  }

  alter(before: TableDefinition, after: TableDefinition): void {
    const sql = writeChange(countable(before), countable(after))
    this.#flush()
    if (sql !== undefined) this.#ready.push({ sql: bytesOf(sql), mayWarn: { generated: new Set(), empty: new Set() } })
  }

  prepare(
    { name, columns: all }: TableDefinition,
    columns: readonly ColumnDefinition[],
    onDuplicate?: OnDuplicate,
  ): Shape {
    const into = columns.filter(({ generated }) => !generated).map((column) => named(column.name))
    const generated = new Set(all.filter((column) => column.generated).map((column) => column.name.toLowerCase()))
    const mayWarn = generated.size > 0 || columns.some(isChoice) || onDuplicate === 'ignore'
    return {
      head: `${VERBS[String(onDuplicate)] ?? 'INSERT'} INTO ${named(name)} (${into.join(',')}) VALUES `,
      tail: updating(onDuplicate),
      ignoresRows: onDuplicate === 'ignore',
      columns,
      generated,
      mostRows: mayWarn ? Math.ceil(MOST_WARNING_VALUES / all.length) : Number.POSITIVE_INFINITY,
    }
  }

  insert(shape: Shape, all: readonly Value[]): void {
    if (shape !== this.#shape || this.#bytes > MOST_INSERT_BYTES || this.#tuples.length >= shape.mostRows) this.#flush()
    this.#shape = shape
    const values: string[] = []
    for (const [at, value] of all.entries()) {
      const column = shape.columns[at] as ColumnDefinition
      if (isChoice(column) && value.kind === 'string' && value.bytes.length === 0)
        this.#emptyChoices.add(choiceIn(column.name, this.#tuples.length + 1))
      if (!column.generated) values.push(this.#literal(value, column))
    }
    const tuple = `(${values.join(',')})`
    this.#tuples.push(tuple)
    this.#bytes += tuple.length
  }

  #flush(): void {
    if (this.#shape && this.#tuples.length > 0) {
      const [{ head, tail, generated, ignoresRows }, empty] = [this.#shape, this.#emptyChoices]
      this.#ready.push({ sql: head + this.#tuples.join(',') + tail, mayWarn: { generated, empty, ignoresRows } })
    }
    this.#shape = undefined
    this.#tuples = []
    this.#emptyChoices = new Set()
    this.#bytes = 0
  }

  #literal(value: Value, column: ColumnDefinition): string {
    if (value.kind === 'null') return 'NULL'
    const type = sqliteTypes[column.dataType]
    const isNumber = type === 'INTEGER' || type === 'REAL'
    if (value.kind === 'number' && (isNumber || type === undefined)) return numberText(value.text, column)
    const bytes = value.kind === 'number' ? Buffer.from(value.text) : value.bytes
    // As text it would be parsed as digits.
    if (value.kind === 'bits' && isNumber) return `0x${Buffer.from(bytes).toString('hex') || '00'}`
    const rewritten = isNumber ? bytes : this.#rewrite(bytes)
    const isBytes = column.dataType === 'bit' || type === 'BLOB' || !isUtf8(rewritten)
    return `${isBytes ? '_binary ' : ''}'${escaped(rewritten)}'`
  }
}

/** Adds an index if needed, because InnoDB allows AUTO_INCREMENT only on the first column of an index. */
function countable(table: TableDefinition): TableDefinition {
  const counting = table.columns.find(({ isAutoIncrement }) => isAutoIncrement)
  const isFirst = table.keys.some(
    ({ kind, parts }) => ['primary', 'unique', 'plain'].includes(kind) && parts[0]?.column === counting?.name,
  )
  if (!counting || isFirst) return table
  const parts = [{ column: counting.name, length: undefined, isDescending: false }]
  return { ...table, keys: [...table.keys, { kind: 'plain', name: counting.name, parts, comment: '' }] }
}

/** Whether the column is an ENUM or SET, which store an invalid choice as an empty text. */
const isChoice = ({ dataType }: ColumnDefinition): boolean => dataType === 'enum' || dataType === 'set'

/** Validates the number, because it is written without quotes. */
function numberText(text: string, { name }: ColumnDefinition): string {
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text))
    throw new UnreadableSql(`${name} has a value that is not a number`)
  return text
}

/** Works byte by byte. A `replace` on text takes sixty times as long, and a value may have 64 MB. */
function escaped(bytes: Uint8Array): string {
  let more = 0
  for (let at = 0; at < bytes.length; at++) if (ESCAPES[bytes[at] as number] !== 0) more++
  if (more === 0) return latin1(bytes)
  const out = Buffer.allocUnsafe(bytes.length + more)
  let to = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    const letter = ESCAPES[byte] as number
    if (letter !== 0) out[to++] = 0x5c
    out[to++] = letter === 0 ? byte : letter
  }
  return latin1(out)
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
