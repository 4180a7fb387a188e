import { serverTableText } from './server-text.ts'
import { type Token, UnreadableSql } from './sql-tokens.ts'
import {
  type Beyond,
  type CheckDefinition,
  type ColumnDefinition,
  charsetOf,
  type DefaultValue,
  defaultCharset,
  defaultCollation,
  type ForeignKeyDefinition,
  type KeyDefinition,
  sqliteTypes,
  type TableDefinition,
  textTypes,
} from './table.ts'
import { expressionText } from './token-text.ts'

/**
 * Reads the tokens of `CREATE TABLE …` as MySQL, MariaDB, and the SQLite plugin write them with SHOW CREATE TABLE, and
 * as people write them in the same form.
 * @param tokens one statement without its semicolon
 * @throws UnreadableSql
 */
export function readTableDefinition(tokens: readonly Token[]): TableDefinition {
  const words = new Words(tokens)
  words.expect('CREATE')
  words.take('OR', 'REPLACE')
  words.take('TEMPORARY')
  words.expect('TABLE')
  if (words.take('IF')) words.expect('NOT', 'EXISTS')
  const name = words.name()
  if (words.take('LIKE') || words.take('SELECT') || words.take('AS'))
    throw new UnreadableSql(
      `${name} is made of another table`,
      'Export the database again with wp db export or mysqldump.',
    )
  const parts = {
    columns: [] as ColumnDefinition[],
    keys: [] as KeyDefinition[],
    foreignKeys: [] as ForeignKeyDefinition[],
  }
  const checks: CheckDefinition[] = []
  words.expectMark('(')
  do {
    if (readBeyond(words) || readKey(words, name, parts, checks)) continue
    readColumn(words, name, parts.columns, parts.keys, checks)
  } while (words.takeMark(','))
  words.expectMark(')')
  const options = readOptions(words)
  const primary = new Set(
    parts.keys.filter(({ kind }) => kind === 'primary').flatMap((key) => key.parts.map((part) => part.column)),
  )
  const columns = parts.columns.map((column) => (primary.has(column.name) ? { ...column, isNullable: false } : column))
  const table = { name, ...options, ...parts, columns, checks }
  const { beyond } = words
  if (beyond.length === 0) return table
  // The server's text would also contain what is lost.
  const isWhole = !beyond.some(({ what }) => what === DEFAULT_OF_SEQUENCE)
  const text = isWhole ? serverTableText(tokens, table) : undefined
  return { ...table, more: beyond, ...(text !== undefined && { ownText: text }) }
}

/** Reads parts of a table that only MariaDB has. */
function readBeyond(words: Words): boolean {
  if (words.take('PERIOD', 'FOR')) words.note('PERIOD', words.name())
  else if (words.take('VECTOR', 'KEY') || words.take('VECTOR', 'INDEX')) words.note('VECTOR KEY')
  else return false
  words.skipRest()
  return true
}

export class Words {
  readonly #tokens: readonly Token[]
  /** The features that a definition cannot express. */
  readonly beyond: Beyond[] = []
  #at: number

  constructor(tokens: readonly Token[], at = 0) {
    this.#tokens = tokens
    this.#at = at
  }

  /** Returns the index of the next word. */
  get place(): number {
    return this.#at
  }

  note(what: string, column?: string, isLost?: boolean): void {
    this.beyond.push({
      what: what.slice(0, MOST_NOTE),
      ...(column !== undefined && { column }),
      ...(isLost && { isLost }),
    })
  }

  /** Skips to the end of this part of a table. @returns the skipped words */
  skipRest(): string {
    const start = this.#at
    while (!this.isAtEnd && !this.#isAtMark(',') && !this.#isAtMark(')'))
      if (this.#isAtMark('(')) this.parenthesised()
      else this.#at++
    return expressionText(this.#tokens.slice(start, this.#at))
  }

  /** Skips a word with its arguments. Returns undefined if this part of a table ends. */
  skipOne(): string | undefined {
    if (this.isAtEnd || this.#isAtMark(',') || this.#isAtMark(')')) return undefined
    const start = this.#at
    if (this.#isAtMark('(')) this.parenthesised()
    else this.#at++
    if (this.takeMark('=')) this.#at++
    return expressionText(this.#tokens.slice(start, this.#at))
  }

  #isAtMark(mark: string): boolean {
    const token = this.rest
    return token?.kind === 'mark' && token.text === mark
  }

  get rest(): Token | undefined {
    return this.#tokens[this.#at]
  }

  get upper(): string {
    const token = this.rest
    return token?.kind === 'word' ? token.text.toUpperCase() : ''
  }

  /** Takes these words if they come next. */
  take(...wanted: string[]): boolean {
    const isThere = wanted.every((word, place) => {
      const token = this.#tokens[this.#at + place]
      return token?.kind === 'word' && token.text.toUpperCase() === word
    })
    if (isThere) this.#at += wanted.length
    return isThere
  }

  expect(...wanted: string[]): void {
    for (const word of wanted) if (!this.take(word)) throw this.wrong(word)
  }

  takeMark(mark: string): boolean {
    const token = this.rest
    const isThere = token?.kind === 'mark' && token.text === mark
    if (isThere) this.#at++
    return isThere
  }

  expectMark(mark: string): void {
    if (!this.takeMark(mark)) throw this.wrong(mark)
  }

  next(): Token {
    const token = this.#tokens[this.#at++]
    if (!token) throw this.wrong('more')
    return token
  }

  /** Reads a name. For `database.table`, returns the table. */
  name(): string {
    let name = this.#onePartOfName()
    while (this.takeMark('.')) name = this.#onePartOfName()
    return name
  }

  #onePartOfName(): string {
    const token = this.next()
    if (token.kind !== 'word' && token.kind !== 'name') throw this.wrong('a name')
    return token.text
  }

  string(): string {
    const token = this.next()
    if (token.kind !== 'string') throw this.wrong('text in quotes')
    return Buffer.from(token.bytes).toString('utf8')
  }

  names(): string[] {
    this.expectMark('(')
    const names = [this.name()]
    while (this.takeMark(',')) names.push(this.name())
    this.expectMark(')')
    return names
  }

  /** Returns the text in parentheses, without them. */
  parenthesised(): string {
    this.expectMark('(')
    const start = this.#at
    for (let depth = 1; ; ) {
      const token = this.next()
      if (token.kind !== 'mark') continue
      if (token.text === '(') depth++
      if (token.text === ')' && --depth === 0) break
    }
    return expressionText(this.#tokens.slice(start, this.#at - 1))
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length
  }

  wrong(wanted: string): UnreadableSql {
    const token = this.rest
    const found = token === undefined ? 'the end' : 'text' in token ? token.text : 'a value'
    return new UnreadableSql(`A table's definition has "${found.slice(0, 60)}" instead of "${wanted}"`)
  }
}

/** The most characters of a table's text in a message. */
const MOST_NOTE = 60

const SAME_TYPES: Record<string, string> = {
  INTEGER: 'int',
  BOOL: 'tinyint',
  BOOLEAN: 'tinyint',
  REAL: 'double',
  NUMERIC: 'decimal',
  DEC: 'decimal',
  FIXED: 'decimal',
  CHARACTER: 'char',
  NCHAR: 'char',
  NVARCHAR: 'varchar',
  GEOMETRYCOLLECTION: 'geomcollection',
}
const DEFAULT_SIZES: Record<string, string> = { decimal: '10,0', char: '1', bit: '1', binary: '1' }

export function readColumn(
  words: Words,
  table: string,
  columns: ColumnDefinition[],
  keys: KeyDefinition[],
  checks: CheckDefinition[],
): void {
  const isQuoted = words.rest?.kind === 'name'
  const name = words.name()
  const typeWord = words.upper
  let dataType = SAME_TYPES[typeWord] ?? typeWord.toLowerCase()
  if (!sqliteTypes[dataType] && typeWord !== 'SERIAL') {
    // A server writes every name in backticks, so this may not be a column.
    if (!isQuoted || !/^[a-z]\w{0,30}$/.test(dataType)) throw words.wrong('a type')
    words.note(dataType, name)
  }
  words.next()
  words.take('PRECISION')
  if (words.take('VARYING')) dataType = 'varchar'
  const isSerial = typeWord === 'SERIAL'
  if (isSerial) dataType = 'bigint'
  let size = readSize(words, dataType)
  if (typeWord.startsWith('BOOL')) size = '1'
  size ??= DEFAULT_SIZES[dataType]
  const column = {
    name,
    dataType,
    size,
    isUnsigned: isSerial,
    isZerofill: false,
    charset: null as string | null,
    collation: null as string | null,
    isNullable: !isSerial,
    default: undefined as DefaultValue | undefined,
    isAutoIncrement: isSerial,
    setsTimeOnUpdate: false,
    comment: '',
    generated: undefined as ColumnDefinition['generated'],
  }
  const isJson = readAttributes(words, { table, column, keys, checks })
  if (isJson) Object.assign(column, { dataType: 'json', charset: null, collation: null })
  else if (textTypes.has(column.dataType)) setCharset(column)
  else Object.assign(column, { charset: null, collation: null })
  columns.push(column)
}

function readSize(words: Words, dataType: string): string | undefined {
  if (!words.takeMark('(')) return undefined
  const parts: string[] = []
  do {
    const token = words.next()
    if (token.kind === 'string') parts.push(`'${Buffer.from(token.bytes).toString('utf8').replaceAll("'", "''")}'`)
    else if (token.kind === 'number') parts.push(token.text)
    else throw words.wrong('a length')
  } while (words.takeMark(','))
  words.expectMark(')')
  const isReal = dataType === 'decimal' || dataType === 'float' || dataType === 'double'
  return isReal && parts.length === 1 ? `${parts[0]},0` : parts.join(',')
}

interface OfColumn {
  readonly table: string
  readonly column: { -readonly [Key in keyof ColumnDefinition]: ColumnDefinition[Key] }
  readonly keys: KeyDefinition[]
  readonly checks: CheckDefinition[]
}

/** @returns whether it is MariaDB's form of JSON */
function readAttributes(words: Words, { table, column, keys, checks }: OfColumn): boolean {
  let isJson = false
  const key = (kind: KeyDefinition['kind'], name: string) =>
    keys.push({ kind, name, parts: [{ column: column.name, length: undefined, isDescending: false }], comment: '' })
  for (;;) {
    if (words.take('UNSIGNED')) column.isUnsigned = true
    else if (words.take('ZEROFILL')) column.isZerofill = true
    else if (words.take('SIGNED')) continue
    else if (words.take('NOT', 'NULL')) column.isNullable = false
    else if (words.take('NULL')) column.isNullable = true
    else if (words.take('CHARACTER', 'SET') || words.take('CHARSET')) column.charset = words.name().toLowerCase()
    else if (words.take('FIRST')) continue
    else if (words.take('AFTER')) words.name()
    else if (words.take('COLLATE')) column.collation = words.name().toLowerCase()
    else if (words.take('BINARY')) column.collation ??= `${column.charset ?? defaultCharset}_bin`
    else if (words.take('AUTO_INCREMENT')) column.isAutoIncrement = true
    else if (words.take('GENERATED', 'ALWAYS', 'AS', 'ROW') || words.take('AS', 'ROW')) {
      const isStart = words.take('START')
      if (!isStart) words.expect('END')
      const expression = isStart ? 'ROW START' : 'ROW END'
      words.note(expression, column.name)
      column.generated = { expression, isStored: true }
    } else if (words.take('DEFAULT')) column.default = readDefault(words, column)
    else if (words.take('ON', 'UPDATE')) {
      if (!takeNow(words)) throw words.wrong('CURRENT_TIMESTAMP')
      column.setsTimeOnUpdate = true
    } else if (words.take('COMMENT')) column.comment = words.string()
    else if (words.take('PRIMARY', 'KEY') || words.take('KEY')) key('primary', 'PRIMARY')
    else if (words.take('UNIQUE')) {
      words.take('KEY')
      key('unique', column.name)
    } else if (words.take('GENERATED', 'ALWAYS', 'AS') || words.take('AS')) {
      const expression = words.parenthesised()
      const isStored = words.take('STORED') || words.take('PERSISTENT')
      if (!isStored) words.take('VIRTUAL')
      column.generated = { expression, isStored }
    } else if (words.take('CONSTRAINT')) {
      const name = words.name()
      words.expect('CHECK')
      checks.push(readCheck(words, name))
    } else if (words.take('CHECK')) {
      const check = readCheck(words, checkName(table, checks))
      // MariaDB: "JSON is an alias for LONGTEXT COLLATE utf8mb4_bin", with this check.
      if (column.dataType === 'longtext' && check.clause === `json_valid(\`${column.name.replaceAll('`', '``')}\`)`)
        isJson = true
      else checks.push(check)
    } else if (words.take('WITHOUT', 'SYSTEM', 'VERSIONING')) words.note('WITHOUT SYSTEM VERSIONING', column.name)
    else if (!words.take('VISIBLE')) {
      const other = words.skipOne()
      if (other === undefined) return isJson
      words.note(other, column.name)
    }
  }
}

function readCheck(words: Words, name: string): CheckDefinition {
  const clause = words.parenthesised()
  if (words.take('NOT', 'ENFORCED')) return { name, clause, isEnforced: false }
  words.take('ENFORCED')
  return { name, clause, isEnforced: true }
}

/** Returns the name that MySQL and the plugin give to an unnamed check. */
const checkName = (table: string, checks: readonly CheckDefinition[]): string => `${table}_chk_${checks.length + 1}`

function takeNow(words: Words): boolean {
  const isNow = ['CURRENT_TIMESTAMP', 'NOW', 'LOCALTIME', 'LOCALTIMESTAMP'].some((word) => words.take(word))
  if (isNow && words.takeMark('(')) while (!words.takeMark(')')) words.next()
  return isNow
}

function readDefault(words: Words, column: OfColumn['column']): DefaultValue | undefined {
  if (words.take('NULL')) return undefined
  if (words.take('TRUE')) return literalOf(column, Buffer.from('1'))
  if (words.take('FALSE')) return literalOf(column, Buffer.from('0'))
  const token = words.rest
  if (token?.kind === 'mark' && token.text === '(') return expressionOf(words, column, words.parenthesised())
  if (token?.kind === 'word' && token.text.startsWith('_')) words.next()
  if (takeNow(words)) return { kind: 'now' }
  const value = words.next()
  if (value.kind === 'number') return literalOf(column, Buffer.from(value.text))
  if (value.kind === 'string') return literalOf(column, value.bytes)
  if (value.kind === 'bits') {
    if (column.dataType === 'bit') return { kind: 'value', text: `b'${bitsOf(value.bytes)}'` }
    return literalOf(column, value.bytes)
  }
  // MariaDB shows functions without the parentheses that MySQL requires: uuid(), curdate().
  if (value.kind === 'word' && words.rest?.kind === 'mark' && words.rest.text === '(')
    return expressionOf(words, column, `${value.text}(${words.parenthesised()})`)
  throw words.wrong('a default')
}

const DEFAULT_OF_SEQUENCE = 'DEFAULT of a sequence'

/**
 * Returns an expression. A default from a sequence is noted as lost: it names the sequence with its database, and would
 * keep counting there.
 */
function expressionOf(words: Words, { name }: OfColumn['column'], text: string): DefaultValue | undefined {
  if (!/\b(nextval|lastval|setval)\s*\(|\bvalue for\b/i.test(text)) return { kind: 'expression', text }
  words.note(DEFAULT_OF_SEQUENCE, name, true)
  return undefined
}

function literalOf({ dataType }: OfColumn['column'], bytes: Uint8Array): DefaultValue {
  const text = Buffer.from(bytes).toString('utf8')
  if (dataType !== 'bit') return { kind: 'value', text }
  return { kind: 'value', text: `b'${(Number.parseInt(text, 10) || 0).toString(2)}'` }
}

const bitsOf = (bytes: Uint8Array): string =>
  [...bytes]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
    .replace(/^0+(?=.)/, '') || '0'

function setCharset(column: OfColumn['column']): void {
  const plain = (name: string | null) => (name === 'utf8mb3' ? 'utf8' : name)
  column.charset = plain(column.charset)
  if (column.collation) column.charset ??= charsetOf(column.collation)
  column.charset ??= defaultCharset
  column.collation ??= defaultCollationOf(column.charset)
}

/** As in the plugin's `CHARSET_DEFAULT_COLLATION_MAP`. */
export function defaultCollationOf(charset: string): string {
  if (charset === defaultCharset) return defaultCollation
  if (charset === 'binary') return 'binary'
  return `${charset}_${OTHER_COLLATIONS[charset] ?? 'general_ci'}`
}
const OTHER_COLLATIONS: Record<string, string> = {
  big5: 'chinese_ci',
  cp932: 'japanese_ci',
  dec8: 'swedish_ci',
  eucjpms: 'japanese_ci',
  euckr: 'korean_ci',
  gb18030: 'chinese_ci',
  gb2312: 'chinese_ci',
  gbk: 'chinese_ci',
  hp8: 'english_ci',
  latin1: 'swedish_ci',
  latin5: 'turkish_ci',
  sjis: 'japanese_ci',
  swe7: 'swedish_ci',
  tis620: 'thai_ci',
  ujis: 'japanese_ci',
}

/** @returns whether it was a key or a constraint, and not a column */
export function readKey(
  words: Words,
  table: string,
  { keys, foreignKeys }: { readonly keys: KeyDefinition[]; readonly foreignKeys: ForeignKeyDefinition[] },
  checks: CheckDefinition[],
): boolean {
  let constraint: string | undefined
  if (words.take('CONSTRAINT'))
    constraint = ['PRIMARY', 'UNIQUE', 'FOREIGN', 'CHECK'].includes(words.upper) ? undefined : words.name()
  if (words.take('CHECK')) {
    checks.push(readCheck(words, constraint ?? checkName(table, checks)))
    return true
  }
  if (words.take('FOREIGN', 'KEY')) {
    foreignKeys.push(readForeignKey(words, constraint ?? `${table}_ibfk_${foreignKeys.length + 1}`))
    return true
  }
  const kind = keyKind(words)
  if (!kind) {
    if (constraint !== undefined) throw words.wrong('a key')
    return false
  }
  const { rest } = words
  const isNamed = rest?.kind === 'name' || (rest?.kind === 'word' && words.upper !== 'USING')
  const given = isNamed ? words.name() : constraint
  if (words.take('USING')) words.next()
  const parts = readKeyParts(words)
  let comment = ''
  for (;;) {
    if (words.take('COMMENT')) comment = words.string()
    else if (words.take('USING') || words.take('KEY_BLOCK_SIZE')) {
      words.takeMark('=')
      words.next()
    } else if (words.take('WITH', 'PARSER')) words.name()
    else if (!words.take('VISIBLE')) break
  }
  const name = kind === 'primary' ? 'PRIMARY' : (given ?? freeName(parts[0]?.column ?? 'key', keys))
  const more = words.skipRest()
  if (more !== '') words.note(`KEY ${name} ${more}`)
  keys.push({ kind, name, parts, comment })
  return true
}

export function keyKind(words: Words): KeyDefinition['kind'] | undefined {
  if (words.take('PRIMARY', 'KEY')) return 'primary'
  const kind = words.take('UNIQUE')
    ? 'unique'
    : words.take('FULLTEXT')
      ? 'fulltext'
      : words.take('SPATIAL')
        ? 'spatial'
        : 'plain'
  const isKey = words.take('KEY') || words.take('INDEX')
  return isKey || kind !== 'plain' ? kind : undefined
}

function freeName(wanted: string, keys: readonly KeyDefinition[]): string {
  const taken = new Set(keys.map(({ name }) => name.toLowerCase()))
  let name = wanted
  for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${wanted}_${number}`
  return name
}

export function readKeyParts(words: Words): KeyDefinition['parts'] {
  const parts: { column: string; length: number | undefined; isDescending: boolean }[] = []
  words.expectMark('(')
  do {
    const column = words.name()
    const length = words.rest?.kind === 'mark' && words.rest.text === '(' ? Number(words.parenthesised()) : undefined
    const isDescending = words.take('DESC')
    if (!isDescending) words.take('ASC')
    if (words.take('WITHOUT', 'OVERLAPS')) words.note('WITHOUT OVERLAPS', column)
    parts.push({ column, length, isDescending })
  } while (words.takeMark(','))
  words.expectMark(')')
  return parts
}

function readForeignKey(words: Words, name: string): ForeignKeyDefinition {
  if (words.rest?.kind === 'name' || words.rest?.kind === 'word') words.name()
  const columns = words.names()
  words.expect('REFERENCES')
  const table = words.name()
  const referenced = words.names()
  const key = { name, columns, table, referenced, onDelete: 'NO ACTION', onUpdate: 'NO ACTION' }
  for (;;) {
    if (words.take('ON', 'DELETE')) key.onDelete = readRule(words)
    else if (words.take('ON', 'UPDATE')) key.onUpdate = readRule(words)
    else return key
  }
}

function readRule(words: Words): string {
  const rule = ['CASCADE', 'SET NULL', 'SET DEFAULT', 'RESTRICT', 'NO ACTION'].find((each) =>
    words.take(...each.split(' ')),
  )
  if (!rule) throw words.wrong('CASCADE')
  return rule
}

type Options = Pick<TableDefinition, 'engine' | 'collation' | 'comment' | 'autoIncrement'>

function readOptions(words: Words): Options {
  const options = { engine: 'InnoDB', collation: '', comment: '', autoIncrement: undefined as bigint | undefined }
  let charset = defaultCharset
  while (!words.isAtEnd) {
    if (words.takeMark(',')) continue
    words.take('DEFAULT')
    const isCharset = words.take('CHARACTER', 'SET')
    const { rest } = words
    const option = isCharset ? 'CHARSET' : rest && 'text' in rest ? rest.text.toUpperCase() : ''
    if (!isCharset) words.next()
    // The server decides about TABLESPACE and similar options.
    if (option === 'PARTITION') {
      words.note('PARTITION')
      break
    }
    if (option === 'WITH' && words.take('SYSTEM', 'VERSIONING')) {
      words.note('SYSTEM VERSIONING')
      words.note('earlier versions of its rows', undefined, true)
      continue
    }
    words.takeMark('=')
    if (words.isAtEnd) break
    if (option === 'SEQUENCE' || option === 'PAGE_COMPRESSED') words.note(option)
    if (option === 'COMMENT') options.comment = words.string()
    else if (option === 'ENGINE') options.engine = engineName(words.name())
    else if (option === 'CHARSET') charset = words.name().toLowerCase()
    else if (option === 'COLLATE') options.collation = words.name().toLowerCase()
    else {
      const value = words.next()
      if (option === 'AUTO_INCREMENT' && value.kind === 'number') options.autoIncrement = BigInt(value.text)
    }
  }
  options.collation ||= defaultCollationOf(charset === 'utf8mb3' ? 'utf8' : charset)
  return options
}

export function engineName(name: string): string {
  const upper = name.toUpperCase()
  if (upper === 'INNODB') return 'InnoDB'
  return upper === 'MYISAM' ? 'MyISAM' : upper
}
