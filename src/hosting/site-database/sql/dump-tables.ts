import type { DumpEvent, Value } from './read-dump.ts'
import type { ColumnDefinition, TableDefinition } from './table.ts'
import { UnreadableSql } from './tokens.ts'

/** A database that the tables of a dump go into. */
export interface DumpTarget<Insert> {
  drop(name: string): void
  /** It is not there, or was dropped. */
  create(table: TableDefinition): void
  /** For rows with a value for each of these columns. */
  prepare(table: TableDefinition, columns: readonly ColumnDefinition[]): Insert
  insert(insert: Insert, values: readonly Value[]): void
}

interface Known<Insert> {
  readonly table: TableDefinition
  /** By the names of columns that rows have. */
  readonly inserts: Map<string, { readonly insert: Insert; readonly columns: number }>
}

/** Takes what a dump says to a database: the tables that are wanted, and nothing that does not fit together. */
export class DumpTables<Insert> {
  tables = 0
  rows = 0
  readonly #target: DumpTarget<Insert>
  readonly #wanted: ReadonlySet<string> | undefined
  /** By lower-case name; undefined: a table of the dump that is not wanted. */
  readonly #known = new Map<string, Known<Insert> | undefined>()

  /** @param wanted tables; default: all */
  constructor(target: DumpTarget<Insert>, wanted: readonly string[] | undefined) {
    this.#target = target
    this.#wanted = wanted && new Set(wanted.map((name) => name.toLowerCase()))
  }

  /** @throws UnreadableSql */
  take(event: DumpEvent): void {
    if (event.kind === 'create') this.#create(event.table)
    else if (event.kind === 'row') this.#insert(event)
    else if (this.#isWanted(event.table)) this.#target.drop(event.table)
  }

  /** Nothing more comes. @throws UnreadableSql when a table that is wanted is not in the dump */
  end(): void {
    for (const name of this.#wanted ?? [])
      if (!this.#known.has(name)) throw new UnreadableSql(`It has no table ${name}`)
  }

  #isWanted(name: string): boolean {
    // in an SQLite file, where every dump may have to go, these are the plugin's
    if (/^(_wp_sqlite_|sqlite_)/i.test(name)) throw new UnreadableSql(`A table may not be called ${name}`)
    return this.#wanted === undefined || this.#wanted.has(name.toLowerCase())
  }

  #create(table: TableDefinition): void {
    const name = table.name.toLowerCase()
    if (this.#known.has(name)) throw new UnreadableSql(`There are two tables ${table.name}`)
    if (!this.#isWanted(table.name)) {
      this.#known.set(name, undefined)
      return
    }
    this.#target.drop(table.name)
    this.#target.create(table)
    this.#known.set(name, { table, inserts: new Map() })
    this.tables++
  }

  #insert({ table, columns, values }: Extract<DumpEvent, { kind: 'row' }>): void {
    const name = table.toLowerCase()
    if (!this.#known.has(name)) throw new UnreadableSql(`There are rows of ${table}, which is not there`)
    const known = this.#known.get(name)
    if (!known) return
    const { insert, columns: count } = this.#insertInto(known, columns)
    if (count !== values.length) throw new UnreadableSql(`A row of ${table} has not as many values as columns`)
    this.#target.insert(insert, values)
    this.rows++
  }

  #insertInto({ table, inserts }: Known<Insert>, names: readonly string[] | undefined) {
    const key = names?.join('\0') ?? ''
    let found = inserts.get(key)
    if (!found) {
      const columns = names
        ? names.map((name) => columnOf(table, name))
        : table.columns.filter(({ generated }) => !generated)
      found = { insert: this.#target.prepare(table, columns), columns: columns.length }
      inserts.set(key, found)
    }
    return found
  }
}

function columnOf(table: TableDefinition, name: string): ColumnDefinition {
  const found = table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase())
  if (!found) throw new UnreadableSql(`${table.name} has no column ${name}`)
  return found
}
