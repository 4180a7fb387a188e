/**
 * The tables in which WordPress' SQLite plugin (3.0.1, driver 3.0.2) keeps what MySQL would know about a site's tables,
 * and the SQLite form of a definition: `class-wp-sqlite-information-schema-builder.php` and
 * `get_sqlite_create_table_statement()`. A test runs the plugin itself and compares.
 */
import type { DatabaseSync } from 'node:sqlite'
import { UnreadableSql } from './sql-tokens.ts'
import {
  type ColumnDefinition,
  columnTypeOf,
  type DefaultValue,
  defaultCharset,
  defaultCollation,
  type KeyDefinition,
  sqliteTypes,
  type TableDefinition,
} from './table.ts'
import { quotedName } from './write-table.ts'

const PREFIX = '_wp_sqlite_'
const SCHEMA = `${PREFIX}mysql_information_schema_`
const VARIABLES = `${PREFIX}global_variables`
/** The name that the plugin stores, whatever the database is called. */
const DATABASE = 'sqlite_database'
const DRIVER_VERSION = '3.0.2'

/** Returns whether a table belongs to the plugin or to SQLite, and not to a site's content. */
export const isInternal = (table: string): boolean =>
  /^(_wp_sqlite_|sqlite_)/i.test(table) || table === '_mysql_data_types_cache'

type Row = Record<string, unknown>

const text = (names: string): string[] => names.split(' ').map((name) => `${name} TEXT NOT NULL COLLATE NOCASE`)
const optional = (names: string): string[] => names.split(' ').map((name) => `${name} TEXT COLLATE NOCASE`)
const binary = (names: string): string[] => names.split(' ').map((name) => `${name} TEXT NOT NULL COLLATE BINARY`)
const numbers = (names: string): string[] => names.split(' ').map((name) => `${name} INTEGER`)
const zeros = (names: string): string[] => names.split(' ').map((name) => `${name} INTEGER NOT NULL DEFAULT 0`)
const def = (name: string): string => `${name} TEXT NOT NULL DEFAULT 'def' COLLATE NOCASE`
const empty = (name: string, collation = 'NOCASE'): string => `${name} TEXT NOT NULL DEFAULT '' COLLATE ${collation}`

/** `INFORMATION_SCHEMA_TABLE_DEFINITIONS` of the plugin. */
const tables: Readonly<Record<string, readonly string[]>> = {
  schemata: [
    def('CATALOG_NAME'),
    ...text('SCHEMA_NAME DEFAULT_CHARACTER_SET_NAME DEFAULT_COLLATION_NAME'),
    'SQL_PATH TEXT NULL COLLATE NOCASE',
    "DEFAULT_ENCRYPTION TEXT NOT NULL DEFAULT 'NO' COLLATE NOCASE",
    'PRIMARY KEY (SCHEMA_NAME)',
  ],
  tables: [
    def('TABLE_CATALOG'),
    ...text('TABLE_SCHEMA TABLE_NAME'),
    ...binary('TABLE_TYPE'),
    ...text('ENGINE'),
    'VERSION INTEGER NOT NULL DEFAULT 10',
    ...binary('ROW_FORMAT'),
    ...zeros('TABLE_ROWS AVG_ROW_LENGTH DATA_LENGTH MAX_DATA_LENGTH INDEX_LENGTH DATA_FREE'),
    ...numbers('AUTO_INCREMENT'),
    'CREATE_TIME TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP',
    'UPDATE_TIME TEXT',
    'CHECK_TIME TEXT',
    ...text('TABLE_COLLATION'),
    ...numbers('CHECKSUM'),
    empty('CREATE_OPTIONS'),
    empty('TABLE_COMMENT'),
    'PRIMARY KEY (TABLE_SCHEMA, TABLE_NAME)',
  ],
  columns: [
    def('TABLE_CATALOG'),
    ...text('TABLE_SCHEMA TABLE_NAME COLUMN_NAME'),
    'ORDINAL_POSITION INTEGER NOT NULL',
    'COLUMN_DEFAULT TEXT COLLATE BINARY',
    ...text('IS_NULLABLE'),
    ...binary('DATA_TYPE'),
    ...numbers('CHARACTER_MAXIMUM_LENGTH CHARACTER_OCTET_LENGTH NUMERIC_PRECISION NUMERIC_SCALE DATETIME_PRECISION'),
    ...optional('CHARACTER_SET_NAME COLLATION_NAME'),
    ...binary('COLUMN_TYPE'),
    empty('COLUMN_KEY', 'BINARY'),
    empty('EXTRA'),
    ...text('PRIVILEGES'),
    empty('COLUMN_COMMENT', 'BINARY'),
    empty('GENERATION_EXPRESSION', 'BINARY'),
    ...numbers('SRS_ID'),
    'PRIMARY KEY (TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME)',
  ],
  statistics: [
    def('TABLE_CATALOG'),
    ...text('TABLE_SCHEMA TABLE_NAME'),
    'NON_UNIQUE INTEGER NOT NULL',
    ...text('INDEX_SCHEMA INDEX_NAME'),
    'SEQ_IN_INDEX INTEGER NOT NULL',
    ...optional('COLUMN_NAME COLLATION'),
    ...numbers('CARDINALITY SUB_PART'),
    'PACKED TEXT',
    ...text('NULLABLE'),
    ...binary('INDEX_TYPE'),
    empty('COMMENT'),
    empty('INDEX_COMMENT', 'BINARY'),
    "IS_VISIBLE TEXT NOT NULL DEFAULT 'YES' COLLATE NOCASE",
    'EXPRESSION TEXT COLLATE BINARY',
    'PRIMARY KEY (TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX)',
    'UNIQUE (INDEX_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX)',
  ],
  table_constraints: [
    def('CONSTRAINT_CATALOG'),
    ...text('CONSTRAINT_SCHEMA CONSTRAINT_NAME TABLE_SCHEMA TABLE_NAME'),
    ...binary('CONSTRAINT_TYPE'),
    "ENFORCED TEXT NOT NULL DEFAULT 'YES' COLLATE BINARY",
    'PRIMARY KEY (TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_TYPE, CONSTRAINT_NAME)',
    'UNIQUE (CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_TYPE, CONSTRAINT_NAME)',
  ],
  referential_constraints: [
    def('CONSTRAINT_CATALOG'),
    ...text('CONSTRAINT_SCHEMA CONSTRAINT_NAME'),
    def('UNIQUE_CONSTRAINT_CATALOG'),
    ...text('UNIQUE_CONSTRAINT_SCHEMA'),
    ...optional('UNIQUE_CONSTRAINT_NAME'),
    "MATCH_OPTION TEXT NOT NULL COLLATE NOCASE DEFAULT 'NONE'",
    ...text('UPDATE_RULE DELETE_RULE TABLE_NAME REFERENCED_TABLE_NAME'),
    'PRIMARY KEY (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)',
  ],
  key_column_usage: [
    def('CONSTRAINT_CATALOG'),
    ...text('CONSTRAINT_SCHEMA CONSTRAINT_NAME'),
    def('TABLE_CATALOG'),
    ...text('TABLE_SCHEMA TABLE_NAME COLUMN_NAME'),
    'ORDINAL_POSITION INTEGER NOT NULL',
    ...numbers('POSITION_IN_UNIQUE_CONSTRAINT'),
    ...optional('REFERENCED_TABLE_SCHEMA REFERENCED_TABLE_NAME REFERENCED_COLUMN_NAME'),
    'UNIQUE (CONSTRAINT_SCHEMA, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA)',
  ],
  check_constraints: [
    def('CONSTRAINT_CATALOG'),
    ...text('CONSTRAINT_SCHEMA CONSTRAINT_NAME'),
    ...binary('CHECK_CLAUSE'),
    'PRIMARY KEY (CONSTRAINT_SCHEMA, CONSTRAINT_NAME)',
  ],
}

/** Creates the plugin's tables as in a newly configured database, without any table of a site. */
export function makeSchema(database: DatabaseSync): void {
  database.exec(`CREATE TABLE IF NOT EXISTS \`${VARIABLES}\` (name TEXT PRIMARY KEY, value TEXT)`)
  for (const [name, lines] of Object.entries(tables))
    database.exec(`CREATE TABLE IF NOT EXISTS ${SCHEMA}${name} (${lines.join(', ')}) STRICT`)
  database.prepare(`INSERT OR IGNORE INTO ${VARIABLES} VALUES ('${PREFIX}driver_version', ?)`).run(DRIVER_VERSION)
  const schema = database.prepare(
    `INSERT OR IGNORE INTO ${SCHEMA}schemata (SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME) VALUES (?, ?, ?)`,
  )
  schema.run('information_schema', 'utf8mb3', 'utf8mb3_general_ci')
  schema.run(DATABASE, 'utf8mb4', 'utf8mb4_0900_ai_ci')
}

/** Drops a table and everything that the plugin knows about it. */
export function dropTable(database: DatabaseSync, name: string): void {
  database.exec(`DROP TABLE IF EXISTS ${quotedName(name)}`)
  for (const table of [
    'tables',
    'columns',
    'statistics',
    'table_constraints',
    'referential_constraints',
    'key_column_usage',
  ]) {
    if (table === 'table_constraints')
      database
        .prepare(
          `DELETE FROM ${SCHEMA}check_constraints WHERE CONSTRAINT_NAME IN (SELECT CONSTRAINT_NAME FROM ${SCHEMA}table_constraints WHERE TABLE_NAME = ? AND CONSTRAINT_TYPE = 'CHECK')`,
        )
        .run(name)
    database.prepare(`DELETE FROM ${SCHEMA}${table} WHERE TABLE_NAME = ?`).run(name)
  }
}

/** Creates a table with its keys, and records what MySQL would know about it. */
export function createTable(database: DatabaseSync, table: TableDefinition): void {
  record(database, table)
  for (const statement of sqliteStatements(table)) database.exec(statement)
  if (table.autoIncrement !== undefined && table.columns.some((column) => column.isAutoIncrement))
    database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(table.name, table.autoIncrement - 1n)
}

function record(database: DatabaseSync, table: TableDefinition): void {
  const insert = (into: string, row: Row) => {
    const names = Object.keys(row)
    database
      .prepare(`INSERT INTO ${SCHEMA}${into} (${names}) VALUES (${names.map(() => '?')})`)
      .run(...(Object.values(row) as (string | number | null)[]))
  }
  insert('tables', {
    TABLE_SCHEMA: DATABASE,
    TABLE_NAME: table.name,
    TABLE_TYPE: 'BASE TABLE',
    ENGINE: table.engine,
    ROW_FORMAT: table.engine === 'MyISAM' ? 'Fixed' : 'Dynamic',
    TABLE_COLLATION: table.collation,
    TABLE_COMMENT: table.comment,
  })
  for (const [at, column] of table.columns.entries()) insert('columns', columnRow(table, column, at))
  for (const key of table.keys) {
    for (const row of keyRows(table, key)) insert('statistics', row)
    if (key.kind !== 'primary' && key.kind !== 'unique') continue
    insert('table_constraints', constraintRow(table, key.name, key.kind === 'primary' ? 'PRIMARY KEY' : 'UNIQUE'))
    for (const [place, { column }] of key.parts.entries())
      insert('key_column_usage', usageRow(table, key.name, column, place))
  }
  for (const key of table.foreignKeys) {
    insert('table_constraints', constraintRow(table, key.name, 'FOREIGN KEY'))
    insert('referential_constraints', {
      CONSTRAINT_SCHEMA: DATABASE,
      CONSTRAINT_NAME: key.name,
      UNIQUE_CONSTRAINT_SCHEMA: DATABASE,
      UNIQUE_CONSTRAINT_NAME: referencedKey(database, key),
      UPDATE_RULE: key.onUpdate,
      DELETE_RULE: key.onDelete,
      TABLE_NAME: table.name,
      REFERENCED_TABLE_NAME: key.table,
    })
    for (const [at, column] of key.columns.entries())
      insert('key_column_usage', {
        ...usageRow(table, key.name, column, at),
        POSITION_IN_UNIQUE_CONSTRAINT: at + 1,
        REFERENCED_TABLE_SCHEMA: DATABASE,
        REFERENCED_TABLE_NAME: key.table,
        REFERENCED_COLUMN_NAME: key.referenced[at] ?? null,
      })
  }
  for (const { name, clause, isEnforced } of table.checks) {
    insert('table_constraints', { ...constraintRow(table, name, 'CHECK'), ENFORCED: isEnforced ? 'YES' : 'NO' })
    insert('check_constraints', { CONSTRAINT_SCHEMA: DATABASE, CONSTRAINT_NAME: name, CHECK_CLAUSE: clause })
  }
}

const constraintRow = (table: TableDefinition, name: string, type: string): Row => ({
  TABLE_SCHEMA: DATABASE,
  TABLE_NAME: table.name,
  CONSTRAINT_SCHEMA: DATABASE,
  CONSTRAINT_NAME: name,
  CONSTRAINT_TYPE: type,
})

const usageRow = (table: TableDefinition, name: string, column: string, at: number): Row => ({
  CONSTRAINT_SCHEMA: DATABASE,
  CONSTRAINT_NAME: name,
  TABLE_SCHEMA: DATABASE,
  TABLE_NAME: table.name,
  COLUMN_NAME: column,
  ORDINAL_POSITION: at + 1,
})

function referencedKey(database: DatabaseSync, key: TableDefinition['foreignKeys'][number]): string | null {
  const rows = database
    .prepare(
      `SELECT INDEX_NAME AS name, COLUMN_NAME AS col FROM ${SCHEMA}statistics WHERE TABLE_NAME = ? AND NON_UNIQUE = 0
       ORDER BY INDEX_NAME = 'PRIMARY' DESC, INDEX_NAME, SEQ_IN_INDEX`,
    )
    .all(key.table) as { name: string; col: string }[]
  const columns = Map.groupBy(rows, ({ name }) => name)
  for (const [name, parts] of columns)
    if (key.referenced.every((column, at) => parts[at]?.col.toLowerCase() === column.toLowerCase())) return name
  return null
}

function columnRow(table: TableDefinition, column: ColumnDefinition, at: number): Row {
  const [characters, octets] = lengths(column)
  const [precision, scale] = numeric(column)
  const isTime = ['time', 'datetime', 'timestamp'].includes(column.dataType)
  return {
    TABLE_SCHEMA: DATABASE,
    TABLE_NAME: table.name,
    COLUMN_NAME: column.name,
    ORDINAL_POSITION: at + 1,
    COLUMN_DEFAULT:
      column.default === undefined ? null : column.default.kind === 'now' ? 'CURRENT_TIMESTAMP' : column.default.text,
    IS_NULLABLE: column.isNullable ? 'YES' : 'NO',
    DATA_TYPE: column.dataType,
    CHARACTER_MAXIMUM_LENGTH: characters,
    CHARACTER_OCTET_LENGTH: octets,
    NUMERIC_PRECISION: precision,
    NUMERIC_SCALE: scale,
    DATETIME_PRECISION: isTime ? 0 : null,
    CHARACTER_SET_NAME: column.charset,
    COLLATION_NAME: collationOf(table, column),
    COLUMN_TYPE: columnTypeOf(column),
    COLUMN_KEY: keyOf(table, column.name),
    EXTRA: extraOf(column),
    PRIVILEGES: 'select,insert,update,references',
    COLUMN_COMMENT: column.comment,
    GENERATION_EXPRESSION: column.generated?.expression ?? '',
    SRS_ID: null,
  }
}

/**
 * Returns the collation that the plugin records for a column. One without a collation of its own, which reads as the
 * default, has that of its table. The plugin stores all text as utf8mb4.
 */
function collationOf(table: TableDefinition, { collation }: ColumnDefinition): string | null {
  if (collation !== defaultCollation) return collation
  const ofTable = table.collation.endsWith('_bin') ? `${defaultCharset}_bin` : table.collation
  return ofTable.startsWith(`${defaultCharset}_`) ? ofTable : collation
}

function keyOf({ keys }: TableDefinition, column: string): string {
  const places = keys.flatMap(({ kind, parts }) =>
    parts.flatMap((part, at) => (part.column.toLowerCase() === column.toLowerCase() ? { kind, at } : [])),
  )
  if (places.some(({ kind }) => kind === 'primary')) return 'PRI'
  if (places.some(({ kind, at }) => kind === 'unique' && at === 0)) return 'UNI'
  return places.some(({ at }) => at === 0) ? 'MUL' : ''
}

function extraOf(column: ColumnDefinition): string {
  if (column.isAutoIncrement) return 'auto_increment'
  const { default: value, generated } = column
  return [
    ...(value && value.kind !== 'value' ? ['DEFAULT_GENERATED'] : []),
    ...(column.setsTimeOnUpdate ? ['on update CURRENT_TIMESTAMP'] : []),
    ...(generated ? [generated.isStored ? 'STORED GENERATED' : 'VIRTUAL GENERATED'] : []),
  ].join(' ')
}

const LENGTHS: Record<string, number> = { tiny: 255, '': 65_535, medium: 16_777_215, long: 4_294_967_295 }
/** `CHARSET_MAX_BYTES_MAP` of the plugin. */
const BYTES: Record<string, number> = {
  ...Object.fromEntries('big5 cp932 euckr gb2312 gbk sjis ucs2 ujis'.split(' ').map((name) => [name, 2])),
  eucjpms: 3,
  ujis: 3,
  utf8: 3,
  ...Object.fromEntries('gb18030 utf16 utf16le utf32 utf8mb4'.split(' ').map((name) => [name, 4])),
}

function lengths({ dataType, size, charset }: ColumnDefinition): [number | null, number | null] {
  const bytes = BYTES[charset ?? ''] ?? 1
  const [, kind] = /^(tiny|medium|long|)(?:text|blob)$/.exec(dataType) ?? []
  if (kind !== undefined) return [LENGTHS[kind] as number, LENGTHS[kind] as number]
  const length = Number(size ?? 1)
  if (dataType === 'char' || dataType === 'varchar') return [length, length * bytes]
  if (dataType === 'binary' || dataType === 'varbinary') return [length, length]
  if (dataType !== 'enum' && dataType !== 'set') return [null, null]
  const values = listed(size ?? '').map((value) => Buffer.byteLength(value))
  const longest = dataType === 'enum' ? Math.max(0, ...values) : values.reduce((sum, each) => sum + each, 0)
  const commas = dataType === 'set' ? Math.min(2, values.length - 1) : 0
  return [longest + commas, (longest + commas) * bytes]
}

/** Returns the values of an enum from its type. */
const listed = (size: string): string[] =>
  [...size.matchAll(/'((?:[^']|'')*)'/g)].map(([, value]) => (value as string).replaceAll("''", "'"))

function numeric({ dataType, size, isUnsigned }: ColumnDefinition): [number | null, number | null] {
  const [first, second] = (size ?? '').split(',').map(Number)
  const whole: Record<string, number> = { tinyint: 3, smallint: 5, mediumint: 7, int: 10, bigint: isUnsigned ? 20 : 19 }
  if (whole[dataType] !== undefined) return [whole[dataType], 0]
  if (dataType === 'bit') return [first as number, null]
  if (dataType === 'float' || dataType === 'double')
    return size === undefined ? [dataType === 'float' ? 12 : 22, null] : [first as number, second ?? null]
  return dataType === 'decimal' ? [first || 10, second ?? 0] : [null, null]
}

function keyRows(table: TableDefinition, key: KeyDefinition): Row[] {
  return key.parts.map(({ column, length, isDescending }, at) => {
    const found = table.columns.find(({ name }) => name.toLowerCase() === column.toLowerCase())
    if (!found)
      throw new UnreadableSql(`A key of ${table.name} has the column ${column}, which the table does not have`)
    const [most] = lengths(found)
    const subPart = length !== undefined && most !== null && length >= most ? most : length
    return {
      TABLE_SCHEMA: DATABASE,
      TABLE_NAME: table.name,
      NON_UNIQUE: key.kind === 'primary' || key.kind === 'unique' ? 0 : 1,
      INDEX_SCHEMA: DATABASE,
      INDEX_NAME: key.name,
      SEQ_IN_INDEX: at + 1,
      COLUMN_NAME: found.name,
      COLLATION: key.kind === 'fulltext' ? null : isDescending ? 'D' : 'A',
      CARDINALITY: 0,
      SUB_PART: key.kind === 'spatial' ? 32 : (subPart ?? null),
      PACKED: null,
      NULLABLE: key.kind === 'primary' || !found.isNullable ? '' : 'YES',
      INDEX_TYPE: key.kind === 'fulltext' ? 'FULLTEXT' : key.kind === 'spatial' ? 'SPATIAL' : 'BTREE',
      COMMENT: '',
      INDEX_COMMENT: key.comment,
      IS_VISIBLE: 'YES',
      EXPRESSION: null,
    }
  })
}

const KIND_ORDER = ['primary', 'unique', 'spatial', 'plain', 'fulltext']

/** Returns the plugin's SQLite statements for the table, in its order. */
function sqliteStatements(table: TableDefinition): string[] {
  const keys = table.keys.toSorted((one, other) => KIND_ORDER.indexOf(one.kind) - KIND_ORDER.indexOf(other.kind))
  const primary = keys.find(({ kind }) => kind === 'primary')
  const name = quotedName(table.name)
  const counts = table.columns.some((column) => column.isAutoIncrement)
  const lines = table.columns.map((column) => sqliteColumn(table, column, primary))
  const after: string[] = []
  for (const key of keys) {
    const columns = key.parts
      .map(({ column, isDescending }) => quotedName(column) + (isDescending ? ' DESC' : ''))
      .join(', ')
    if (key !== primary) {
      const unique = key.kind === 'unique' ? 'UNIQUE ' : ''
      after.push(`CREATE ${unique}INDEX ${quotedName(`${table.name}__${key.name}`)} ON ${name} (${columns})`)
    } else if (!counts) lines.push(`PRIMARY KEY (${columns})`)
    else if (key.parts.length > 1)
      after.push(`CREATE UNIQUE INDEX ${plainName(`${PREFIX}${table.name}__primary`)} ON ${name} (${columns})`)
  }
  for (const key of table.foreignKeys.toSorted((one, other) => (one.name < other.name ? -1 : 1)))
    lines.push(
      `CONSTRAINT ${quotedName(key.name)} FOREIGN KEY (${key.columns.map(quotedName).join(', ')}) REFERENCES ${quotedName(key.table)} (${key.referenced
        .map(quotedName)
        .join(', ')}) ON DELETE ${restrict(key.onDelete)} ON UPDATE ${restrict(key.onUpdate)}`,
    )
  for (const column of table.columns)
    if (extraOf(column) === 'on update CURRENT_TIMESTAMP') after.push(trigger(table.name, column.name))
  return [`CREATE TABLE ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n) STRICT`, ...after]
}

/** Returns a name without quotes if possible, because the plugin does not quote this one name. */
const plainName = (name: string): string => (/^\w+$/.test(name) ? name : quotedName(name))

const restrict = (rule: string): string => (rule === 'NO ACTION' ? 'RESTRICT' : rule)

function sqliteColumn(table: TableDefinition, column: ColumnDefinition, primary: KeyDefinition | undefined): string {
  const type = sqliteTypes[column.dataType] ?? 'TEXT'
  const isAlone = primary?.parts.length === 1 && primary.parts[0]?.column.toLowerCase() === column.name.toLowerCase()
  // INTEGER PRIMARY KEY would be an alias of the row ID (https://www.sqlite.org/lang_createtable.html#rowid).
  const declared = type === 'INTEGER' && isAlone && !column.isAutoIncrement ? 'INT' : type
  return [
    quotedName(column.name),
    declared,
    ...(type === 'TEXT' ? [`COLLATE ${tellsCase(collationOf(table, column)) ? 'BINARY' : 'NOCASE'}`] : []),
    ...(column.isNullable ? [] : ['NOT NULL']),
    ...(column.isAutoIncrement ? ['PRIMARY KEY AUTOINCREMENT'] : []),
    ...(column.default ? [`DEFAULT ${sqliteDefault(column, column.default)}`] : []),
  ].join(' ')
}

const tellsCase = (collation: string | null): boolean => /(?:^|_)bin(?:ary)?$/.test(collation ?? '')

function sqliteDefault({ dataType }: ColumnDefinition, value: DefaultValue): string {
  if (value.kind === 'now' && (dataType === 'timestamp' || dataType === 'datetime')) return 'CURRENT_TIMESTAMP'
  if (value.kind === 'expression') return `(${value.text})`
  const literal = value.kind === 'now' ? 'CURRENT_TIMESTAMP' : value.text
  if (dataType === 'bit') return String(BigInt(`0b${literal.slice(2, -1) || '0'}`))
  return `'${literal.replaceAll("'", "''")}'`
}

/** `get_column_on_update_trigger_query()` of the plugin. */
const trigger = (table: string, column: string): string =>
  `\n\t\t\t\tCREATE TRIGGER ${quotedName(`${PREFIX}${table}_${column}_on_update`)}\n\t\t\t\tAFTER UPDATE ON ${quotedName(table)}\n\t\t\t\tFOR EACH ROW\n\t\t\t\tBEGIN\n\t\t\t\t  UPDATE ${quotedName(table)} SET ${quotedName(column)} = CURRENT_TIMESTAMP WHERE rowid = NEW.rowid;\n\t\t\t\tEND\n\t\t\t`

/** Returns the plugin's record of a table, or undefined when it has none. */
export function knownTable(database: DatabaseSync, name: string): TableDefinition | undefined {
  const rows = (table: string, order: string): Row[] =>
    database.prepare(`SELECT * FROM ${SCHEMA}${table} WHERE TABLE_NAME = ? ORDER BY ${order}`).all(name) as Row[]
  const [table] = rows('tables', '1')
  if (!table) return undefined
  const usage = Map.groupBy(rows('key_column_usage', 'ORDINAL_POSITION'), (row) => String(row.CONSTRAINT_NAME))
  return {
    name,
    engine: String(table.ENGINE),
    collation: String(table.TABLE_COLLATION),
    comment: String(table.TABLE_COMMENT),
    autoIncrement: undefined,
    columns: rows('columns', 'ORDINAL_POSITION').map(columnOf),
    keys: keysOf(rows('statistics', 'rowid, SEQ_IN_INDEX')),
    foreignKeys: rows('referential_constraints', 'CONSTRAINT_NAME').map((row) => {
      const columns = (usage.get(String(row.CONSTRAINT_NAME)) ?? []).filter(
        (each) => each.REFERENCED_COLUMN_NAME !== null,
      )
      return {
        name: String(row.CONSTRAINT_NAME),
        columns: columns.map((each) => String(each.COLUMN_NAME)),
        table: String(row.REFERENCED_TABLE_NAME),
        referenced: columns.map((each) => String(each.REFERENCED_COLUMN_NAME)),
        onDelete: ruleOf(row.DELETE_RULE),
        onUpdate: ruleOf(row.UPDATE_RULE),
      }
    }),
    checks: (
      database
        .prepare(
          `SELECT t.CONSTRAINT_NAME AS name, c.CHECK_CLAUSE AS clause, t.ENFORCED AS enforced FROM ${SCHEMA}table_constraints t
           JOIN ${SCHEMA}check_constraints c ON c.CONSTRAINT_NAME = t.CONSTRAINT_NAME
           WHERE t.TABLE_NAME = ? AND t.CONSTRAINT_TYPE = 'CHECK' ORDER BY t.CONSTRAINT_NAME`,
        )
        .all(name) as { name: string; clause: string; enforced: string }[]
    ).map((row) => ({ name: row.name, clause: row.clause, isEnforced: row.enforced === 'YES' })),
  }
}

const ruleOf = (rule: unknown): string =>
  ['CASCADE', 'SET NULL', 'SET DEFAULT', 'RESTRICT'].find((each) => each === rule) ?? 'NO ACTION'

function columnOf(row: Row): ColumnDefinition {
  const dataType = sqliteTypes[String(row.DATA_TYPE)] ? String(row.DATA_TYPE) : 'longtext'
  const type = String(row.COLUMN_TYPE)
  const extra = String(row.EXTRA)
  const [, size] = /^\w+\(((?:[\d,]+)|(?:'(?:[^']|'')*',?)+)\)/.exec(type) ?? []
  const fallback = row.COLUMN_DEFAULT === null ? undefined : String(row.COLUMN_DEFAULT)
  const isTime = dataType === 'timestamp' || dataType === 'datetime'
  return {
    name: String(row.COLUMN_NAME),
    dataType,
    size,
    isUnsigned: / unsigned/.test(type),
    isZerofill: / zerofill/.test(type),
    charset: row.CHARACTER_SET_NAME === null ? null : String(row.CHARACTER_SET_NAME),
    collation: row.COLLATION_NAME === null ? null : String(row.COLLATION_NAME),
    isNullable: row.IS_NULLABLE === 'YES',
    default: fallback === undefined ? undefined : defaultOf(fallback, extra, isTime),
    isAutoIncrement: extra.includes('auto_increment'),
    setsTimeOnUpdate: extra.includes('on update CURRENT_TIMESTAMP'),
    comment: String(row.COLUMN_COMMENT),
    generated:
      / GENERATED/.test(extra) && row.GENERATION_EXPRESSION
        ? { expression: String(row.GENERATION_EXPRESSION), isStored: extra.includes('STORED') }
        : undefined,
  }
}

function defaultOf(text: string, extra: string, isTime: boolean): DefaultValue {
  if (text === 'CURRENT_TIMESTAMP' && isTime) return { kind: 'now' }
  return extra.includes('DEFAULT_GENERATED') ? { kind: 'expression', text } : { kind: 'value', text }
}

function keysOf(rows: readonly Row[]): KeyDefinition[] {
  return [...Map.groupBy(rows, (row) => String(row.INDEX_NAME))].map(([name, parts]) => {
    const first = parts[0] as Row
    const kind =
      name.toUpperCase() === 'PRIMARY'
        ? 'primary'
        : first.INDEX_TYPE === 'FULLTEXT'
          ? 'fulltext'
          : first.INDEX_TYPE === 'SPATIAL'
            ? 'spatial'
            : Number(first.NON_UNIQUE) === 0
              ? 'unique'
              : 'plain'
    return {
      kind,
      name,
      parts: parts
        .toSorted((one, other) => Number(one.SEQ_IN_INDEX) - Number(other.SEQ_IN_INDEX))
        .map((row) => ({
          column: String(row.COLUMN_NAME),
          length: row.SUB_PART === null ? undefined : Number(row.SUB_PART),
          isDescending: row.COLLATION === 'D',
        })),
      comment: String(first.INDEX_COMMENT),
    }
  })
}
