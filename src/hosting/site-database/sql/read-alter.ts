import { defaultCollationOf, engineName, keyKind, readColumn, readKey, Words } from './read-table.ts'
import { type Token, UnreadableSql } from './sql-tokens.ts'
import type {
  CheckDefinition,
  ColumnDefinition,
  ForeignKeyDefinition,
  KeyDefinition,
  TableDefinition,
} from './table.ts'
import { charsetOf } from './table.ts'

/** A statement's change of an existing table. */
export interface TableChange {
  readonly table: string
  /** @throws UnreadableSql when it does not fit the table */
  readonly apply: (table: TableDefinition) => TableDefinition
}

/** The parts that change while a statement is read. */
interface Changing {
  columns: ColumnDefinition[]
  keys: KeyDefinition[]
  foreignKeys: ForeignKeyDefinition[]
  checks: CheckDefinition[]
  options: { autoIncrement?: bigint; engine?: string; comment?: string; collation?: string }
}

/**
 * Reads `ALTER TABLE …`, with which programs add a table's keys after its rows.
 * @returns undefined for statements that change nothing that is kept
 */
export function readAlter(tokens: readonly Token[]): TableChange | undefined {
  const words = new Words(tokens)
  words.expect('ALTER')
  words.take('ONLINE')
  words.take('IGNORE')
  words.expect('TABLE')
  if (words.take('IF')) words.expect('EXISTS')
  const table = words.name()
  const isAboutKeys = tokens.some((token) => token.kind === 'word' && token.text.toUpperCase() === 'KEYS')
  if (isAboutKeys && (words.take('DISABLE', 'KEYS') || words.take('ENABLE', 'KEYS'))) return undefined
  const start = words.place
  return { table, apply: (before) => changed(before, new Words(tokens, start)) }
}

/** Reads `CREATE [UNIQUE] INDEX k ON t (…)` as the key that it creates. */
export function readIndex(tokens: readonly Token[]): TableChange {
  const words = new Words(tokens)
  words.expect('CREATE')
  words.take('OR', 'REPLACE')
  const kind = keyKind(words)
  if (kind === undefined || kind === 'primary') throw words.wrong('INDEX')
  if (words.take('IF')) words.expect('NOT', 'EXISTS')
  const name = words.name()
  const using = words.take('USING') ? words.next() : undefined
  words.expect('ON')
  const table = words.name()
  const start = words.place
  const head: Token[] = [
    ...(kind === 'plain' ? [] : [{ kind: 'word', text: kind.toUpperCase() } as const]),
    { kind: 'word', text: 'KEY' },
    { kind: 'name', text: name },
    ...(using ? [{ kind: 'word', text: 'USING' } as const, using] : []),
  ]
  const key = [...head, ...tokens.slice(start)]
  return {
    table,
    apply(before) {
      const after = changingOf(before)
      readKey(new Words(key), before.name, after, after.checks)
      return { ...before, keys: after.keys }
    },
  }
}

const changingOf = ({ columns, keys, foreignKeys, checks }: TableDefinition): Changing => ({
  columns: [...columns],
  keys: [...keys],
  foreignKeys: [...foreignKeys],
  checks: [...checks],
  options: {},
})

function changed(before: TableDefinition, words: Words): TableDefinition {
  const after = changingOf(before)
  do change(words, before.name, after)
  while (words.takeMark(','))
  if (!words.isAtEnd) throw words.wrong(',')
  const primary = new Set(
    after.keys.flatMap(({ kind, parts }) =>
      kind === 'primary' ? parts.map(({ column }) => column.toLowerCase()) : [],
    ),
  )
  const columns = after.columns.map((column) =>
    primary.has(column.name.toLowerCase()) ? { ...column, isNullable: false } : column,
  )
  // The server's text describes the table before the change.
  const { ownText: _ownText, ...table } = before
  const { keys, foreignKeys, checks, options } = after
  return { ...table, columns, keys, foreignKeys, checks, ...options }
}

function change(words: Words, table: string, after: Changing): void {
  if (words.take('ADD')) {
    if (!readKey(words, table, after, after.checks)) throw refused('ADD COLUMN')
  } else if (words.take('MODIFY')) {
    words.take('COLUMN')
    modify(words, table, after)
  } else if (words.take('CHANGE')) {
    words.take('COLUMN')
    const name = words.name()
    modify(words, table, after, name)
  } else if (words.take('DROP')) drop(words, after)
  else if (words.take('CONVERT', 'TO')) convert(words, after)
  else if (words.take('ORDER', 'BY')) words.skipRest()
  else if (!words.take('DISABLE', 'KEYS') && !words.take('ENABLE', 'KEYS')) readOption(words, after)
}

/** Reads the new definition of a column, which keeps its position. */
function modify(words: Words, table: string, after: Changing, name?: string): void {
  const read: ColumnDefinition[] = []
  readColumn(words, table, read, after.keys, after.checks)
  const [column] = read as [ColumnDefinition]
  const at = after.columns.findIndex((each) => each.name.toLowerCase() === (name ?? column.name).toLowerCase())
  if (at < 0) throw new UnreadableSql(`${table} has no column ${name ?? column.name}`)
  if (name !== undefined && name.toLowerCase() !== column.name.toLowerCase()) throw refused('CHANGE of a name')
  after.columns[at] = column
}

function drop(words: Words, after: Changing): void {
  const isSame = (name: string) => (each: { readonly name: string }) => each.name.toLowerCase() !== name.toLowerCase()
  if (words.take('PRIMARY', 'KEY')) after.keys = after.keys.filter(({ kind }) => kind !== 'primary')
  else if (words.take('KEY') || words.take('INDEX')) after.keys = after.keys.filter(isSame(words.name()))
  else if (words.take('FOREIGN', 'KEY')) after.foreignKeys = after.foreignKeys.filter(isSame(words.name()))
  else if (words.take('CONSTRAINT') || words.take('CHECK')) {
    const name = words.name()
    after.foreignKeys = after.foreignKeys.filter(isSame(name))
    after.checks = after.checks.filter(isSame(name))
  } else throw refused('DROP COLUMN')
}

/** Changes the charset of the table and its columns. The rows are already text. */
function convert(words: Words, after: Changing): void {
  if (!words.take('CHARSET')) words.expect('CHARACTER', 'SET')
  const charset = words.name().toLowerCase()
  const collation = words.take('COLLATE') ? words.name().toLowerCase() : defaultCollationOf(charset)
  after.options.collation = collation
  after.columns = after.columns.map((column) =>
    column.charset === null ? column : { ...column, charset: charsetOf(collation), collation },
  )
}

function readOption(words: Words, after: Changing): void {
  const { options } = after
  words.take('DEFAULT')
  const take = (...names: string[]): boolean => {
    if (!words.take(...names)) return false
    words.takeMark('=')
    return true
  }
  if (take('AUTO_INCREMENT')) {
    const value = words.next()
    if (value.kind === 'number') options.autoIncrement = BigInt(value.text)
  } else if (take('ENGINE') || take('TYPE')) options.engine = engineName(words.name())
  else if (take('COMMENT')) options.comment = words.string()
  else if (take('CHARACTER', 'SET') || take('CHARSET')) {
    const charset = words.name().toLowerCase()
    if (!words.isAtEnd && take('COLLATE')) options.collation = words.name().toLowerCase()
    else options.collation = defaultCollationOf(charset)
  } else if (take('COLLATE')) options.collation = words.name().toLowerCase()
  else if (take('ROW_FORMAT') || take('PACK_KEYS') || take('CHECKSUM') || take('KEY_BLOCK_SIZE')) words.next()
  else throw refused(words.upper || 'That')
}

const refused = (what: string): UnreadableSql =>
  new UnreadableSql(
    `ALTER TABLE … ${what.slice(0, 60)} is nothing that can be loaded,`,
    'Export the database again with wp db export or mysqldump.',
  )
