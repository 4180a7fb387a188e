import { isUtf8 } from 'node:buffer'
import { AS_UTF8, isUtf8Charset, toUtf8 } from './charsets.ts'
import { type PrefixChange, PrefixNames } from './prefixes.ts'
import type { DumpEvent, OnDuplicate, Value } from './read-dump.ts'
import { UnreadableSql } from './sql-tokens.ts'
import {
  type ColumnDefinition,
  charsetOf,
  defaultCharset,
  defaultCollation,
  type TableDefinition,
  textTypes,
} from './table.ts'

/** A database that receives the tables of a dump. */
export interface DumpTarget<Insert> {
  drop(name: string): void
  /** Creates a table that does not exist, or was dropped. */
  create(table: TableDefinition): void
  /** Prepares an INSERT for rows with a value for each of these columns. */
  prepare(table: TableDefinition, columns: readonly ColumnDefinition[], onDuplicate?: OnDuplicate): Insert
  insert(insert: Insert, values: readonly Value[]): void
  /** Removes all rows. */
  empty(name: string): void
  /** Changes a table and keeps its rows. */
  alter(before: TableDefinition, after: TableDefinition): void
}

export interface DumpTablesOptions {
  /** The tables to load, by their new names. Default: all. */
  readonly wanted?: readonly string[]
  readonly prefixes?: readonly PrefixChange[]
  /** The host names whose site address gets http. */
  readonly withoutHttps?: readonly string[]
}

interface Known<Insert> {
  readonly table: TableDefinition
  /** Statements by the columns of the rows, and by how they treat existing rows. */
  readonly inserts: Map<string, Shape<Insert>>
  /** The table's definition after its rows, or undefined if the dump does not change it. */
  altered?: TableDefinition
}

interface OptionPlaces {
  readonly name: number
  readonly value: number
}

interface Shape<Insert> {
  readonly insert: Insert
  readonly columns: readonly ColumnDefinition[]
  /** The part of its text that begins with the prefix, if there is one. */
  /** The columns with the names and values of a site's options. */
  readonly address: OptionPlaces | undefined
  readonly renames: ((values: readonly Value[]) => readonly Value[]) | undefined
}

/** The number of items that are named because a database lacks them. Others are counted. */
const NAMED = 3
const LONGEST_CHARSET = 40

/** Applies a dump to a database: only the tables that are wanted, and nothing inconsistent. */
export class DumpTables<Insert> {
  tables = 0
  rows = 0
  /** The first items that were left out, by name. */
  readonly #leftOut: string[] = []
  #leftOutCount = 0
  readonly #target: DumpTarget<Insert>
  readonly #wanted: ReadonlySet<string> | undefined
  readonly #prefixes: PrefixNames
  readonly #withoutHttps: readonly string[]
  /** By lower-case name, or undefined for a table of the dump that is not wanted. */
  readonly #known = new Map<string, Known<Insert> | undefined>()
  #database: string | undefined

  constructor(target: DumpTarget<Insert>, { wanted, prefixes = [], withoutHttps = [] }: DumpTablesOptions = {}) {
    this.#target = target
    this.#wanted = wanted && new Set(wanted.map((name) => name.toLowerCase()))
    this.#prefixes = new PrefixNames(prefixes)
    this.#withoutHttps = withoutHttps.map((host) => host.toLowerCase())
  }

  /** Returns a message about parts of the dump that the database lacks. */
  get warning(): string | undefined {
    const named = this.#leftOut.join(', ')
    const more = this.#leftOutCount - this.#leftOut.length
    return named && `Not loaded: ${named}${more > 0 ? `, and ${more} more` : ''}`
  }

  /** Returns the names of the dump's tables, as they are now. */
  get names(): string[] {
    return [...this.#known.values()].flatMap((known) => (known ? [known.table.name] : []))
  }

  /** @throws UnreadableSql */
  take(event: DumpEvent): void {
    if (event.kind === 'create') this.#create(event)
    else if (event.kind === 'row') this.#insert(event)
    else if (event.kind === 'drop') this.#drop(this.#prefixes.table(event.table))
    else if (event.kind === 'empty') this.#empty(this.#prefixes.table(event.table))
    else if (event.kind === 'alter') this.#alter(event)
    else this.#leaveOut(event.what)
  }

  /** Ends the dump. @throws UnreadableSql when a wanted table is not in the dump */
  end(): void {
    for (const name of this.#wanted ?? [])
      if (!this.#known.has(name)) throw new UnreadableSql(`It has no table ${name}`)
    // Once for each table, however many statements changed it.
    for (const known of this.#known.values()) if (known?.altered) this.#target.alter(known.table, known.altered)
  }

  #leaveOut(what: string): void {
    // A view appears twice: first as a placeholder for views that use it.
    if (this.#leftOut.includes(what)) return
    this.#leftOutCount++
    if (this.#leftOut.length < NAMED) this.#leftOut.push(what)
  }

  #isWanted(name: string): boolean {
    // In an SQLite file, to which any dump may be restored, these names belong to the plugin.
    if (/^(_wp_sqlite_|sqlite_)/i.test(name)) throw new UnreadableSql(`A table may not be called ${name}`)
    return this.#wanted === undefined || this.#wanted.has(name.toLowerCase())
  }

  #drop(name: string): void {
    if (!this.#isWanted(name)) return
    this.#target.drop(name)
    // A view is a table until all tables exist.
    if (this.#known.get(name.toLowerCase())) this.tables--
    this.#known.delete(name.toLowerCase())
  }

  #empty(name: string): void {
    if (this.#known.get(name.toLowerCase())) this.#target.empty(name)
  }

  #create({ table: asWritten, database, ifAbsent }: Extract<DumpEvent, { kind: 'create' }>): void {
    const table = this.#prefixes.definition(asWritten)
    const name = table.name.toLowerCase()
    this.#database ??= database
    if (database !== undefined && database !== this.#database)
      throw new UnreadableSql(
        `It has tables of several databases (${this.#database}, ${database})`,
        'Export only the database of the site.',
      )
    if (this.#known.has(name)) {
      if (ifAbsent) return
      throw new UnreadableSql(`There are two tables ${table.name}`)
    }
    if (!this.#isWanted(table.name)) {
      this.#known.set(name, undefined)
      return
    }
    this.#target.drop(table.name)
    this.#target.create(table)
    this.#known.set(name, { table, inserts: new Map() })
    this.tables++
  }

  #alter({ table, apply }: Extract<DumpEvent, { kind: 'alter' }>): void {
    const name = this.#prefixes.table(table)
    if (!this.#known.has(name.toLowerCase())) throw absent('a change', name)
    const known = this.#known.get(name.toLowerCase())
    if (!known) return
    const before = known.altered ?? known.table
    const after = apply(before)
    const foreignKeys = after.foreignKeys.map((key) =>
      before.foreignKeys.includes(key) ? key : { ...key, table: this.#prefixes.table(key.table) },
    )
    known.altered = { ...after, foreignKeys }
  }

  #insert({ table, columns, values, onDuplicate }: Extract<DumpEvent, { kind: 'row' }>): void {
    const renamed = this.#prefixes.table(table)
    const name = renamed.toLowerCase()
    if (!this.#known.has(name)) throw absent('rows', renamed)
    const known = this.#known.get(name)
    if (!known) return
    const shape = this.#insertInto(known, table, columns, onDuplicate)
    if (shape.columns.length !== values.length)
      throw new UnreadableSql(`A row of ${renamed} has a different number of values than columns`)
    const asText = inCharsets(known.table, shape.columns, values)
    const row = shape.renames?.(asText) ?? asText
    this.#target.insert(shape.insert, shape.address ? inHttp(row, shape.address, this.#withoutHttps) : row)
    this.rows++
  }

  #insertInto(
    { table, inserts }: Known<Insert>,
    asWritten: string,
    names: readonly string[] | undefined,
    onDuplicate: OnDuplicate | undefined,
  ): Shape<Insert> {
    const key = `${names?.join('\0') ?? ''}\0\0${JSON.stringify(onDuplicate) ?? ''}`
    let found = inserts.get(key)
    if (!found) {
      const columns = names
        ? names.map((name) => columnOf(table, name))
        : table.columns.filter(({ generated }) => !generated)
      const insert = this.#target.prepare(table, columns, onDuplicate)
      const address = this.#withoutHttps.length > 0 ? addressIn(asWritten, columns) : undefined
      found = { insert, columns, address, renames: this.#prefixes.rowsOf(asWritten, columns) }
      inserts.set(key, found)
    }
    return found
  }
}

function addressIn(table: string, columns: readonly ColumnDefinition[]): OptionPlaces | undefined {
  const at = (wanted: string) => columns.findIndex(({ name }) => name.toLowerCase() === wanted)
  const places = { name: at('option_name'), value: at('option_value') }
  return /options$/i.test(table) && places.name >= 0 && places.value >= 0 ? places : undefined
}

/** Changes `home` and `siteurl` of the hosts to http. */
function inHttp(values: readonly Value[], places: OptionPlaces, hosts: readonly string[]): readonly Value[] {
  const [name, value] = [values[places.name], values[places.value]]
  if (!name || !value || !('bytes' in name) || !('bytes' in value) || value.bytes.length > 1000) return values
  if (!/^(?:home|siteurl)$/.test(Buffer.from(name.bytes).toString())) return values
  const url = Buffer.from(value.bytes).toString()
  const [, host = ''] = /^https:\/\/([^/]+)/i.exec(url) ?? []
  if (!hosts.includes(host.toLowerCase())) return values
  return values.with(places.value, { kind: 'string', bytes: Buffer.from(url.replace(/^https/i, 'http')) })
}

const absent = (what: string, name: string): UnreadableSql =>
  new UnreadableSql(`There are ${what} of ${name}, which does not exist`, 'Export the tables with their structure.')

function columnOf(table: TableDefinition, name: string): ColumnDefinition {
  const found = table.columns.find((column) => column.name.toLowerCase() === name.toLowerCase())
  if (!found) throw new UnreadableSql(`${table.name} has no column ${name}`)
  return found
}

/**
 * Converts text to UTF-8, which both kinds of database take. @throws UnreadableSql for text that is invalid in its
 * charset
 */
function inCharsets(
  table: TableDefinition,
  columns: readonly ColumnDefinition[],
  values: readonly Value[],
): readonly Value[] {
  let changed: Value[] | undefined
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as Value
    if (!('bytes' in value) || value.charset === undefined) continue
    const column = columns[at] as ColumnDefinition
    if (!textTypes.has(column.dataType) && column.dataType !== 'json') continue
    const bytes = asText(table, column, value.bytes, value.charset)
    if (bytes === value.bytes) continue
    changed ??= [...values]
    changed[at] = { kind: 'string', bytes }
  }
  return changed ?? values
}

/** Returns the charset of a column, which defaults to that of its table. */
function charsetIn(table: TableDefinition, { charset, collation }: ColumnDefinition): string {
  if (charset === null) return defaultCharset
  return charset === defaultCharset && collation === defaultCollation ? charsetOf(table.collation) : charset
}

function asText(table: TableDefinition, column: ColumnDefinition, bytes: Uint8Array, charset: string): Uint8Array {
  const own = charsetIn(table, column)
  if (charset === 'binary') return isUtf8(bytes) && !/^(ucs2|utf16)/.test(own) ? bytes : (toUtf8(bytes, own) ?? bytes)
  const text = toUtf8(bytes, charset)
  if (text) return text
  // The text has no explicit charset, so it has that of its column.
  const byColumn = isUtf8Charset(charset) && !isUtf8Charset(own) ? toUtf8(bytes, own) : undefined
  if (byColumn) return byColumn
  throw new UnreadableSql(
    `The column ${column.name} of ${table.name} has bytes that are not text in the charset ${charset.slice(0, LONGEST_CHARSET)}`,
    AS_UTF8,
  )
}
