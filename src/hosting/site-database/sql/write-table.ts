import { MYSQL_ALONE } from './sql-tokens.ts'
import {
  type CheckDefinition,
  type ColumnDefinition,
  charsetOf,
  columnTypeOf,
  defaultCharset,
  defaultCollation,
  type ForeignKeyDefinition,
  type KeyDefinition,
  nearest,
  type TableDefinition,
} from './table.ts'
import { quoted } from './token-text.ts'

/** Quotes a name for MySQL and MariaDB, whatever it contains. */
export const quotedName = (name: string): string => `\`${name.replaceAll('`', '``')}\``

/** The key length for text without a length, if none is given: as in WordPress, within every server's limit. */
const KEY_PREFIX = 191
const LONG = /text$|blob$|^json$/

/**
 * Returns `CREATE TABLE` as MySQL 8 and MariaDB 10.11 take it, without a semicolon. If MariaDB and MySQL have different
 * names for the same thing, MariaDB gets its own. MySQL's is in a comment that MariaDB skips.
 */
export function writeTable(table: TableDefinition): string {
  const types = new Map(table.columns.map((column) => [column.name.toLowerCase(), column]))
  const lines = [
    ...table.columns.map(writeColumn),
    ...table.keys.map((key) => writeKey(key, types)),
    ...table.foreignKeys.map(writeForeignKey),
    ...table.checks.map(writeCheck),
  ]
  const options = [
    `ENGINE=${word(table.engine)}`,
    ...(table.autoIncrement === undefined ? [] : [`AUTO_INCREMENT=${table.autoIncrement}`]),
    `DEFAULT CHARSET=${word(charsetOf(table.collation))} ${collate('COLLATE=', table.collation)}`,
    ...(table.comment ? [`COMMENT=${quoted(table.comment)}`] : []),
  ]
  return `CREATE TABLE ${quotedName(table.name)} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n) ${options.join(' ')}`
}

/**
 * Returns `ALTER TABLE` that turns one table into another: its keys, and the definitions of its existing columns.
 * @returns undefined when nothing differs
 */
export function writeChange(before: TableDefinition, after: TableDefinition): string | undefined {
  const types = new Map(after.columns.map((column) => [column.name.toLowerCase(), column]))
  const said = new Set(before.columns.map(writeColumn))
  const isIn = (all: readonly { readonly name: string }[], each: object) =>
    all.some((other) => JSON.stringify(other) === JSON.stringify(each))
  const gone = before.keys.filter((key) => !isIn(after.keys, key))
  const changes = [
    ...before.foreignKeys
      .filter((key) => !isIn(after.foreignKeys, key))
      .map(({ name }) => `DROP FOREIGN KEY ${quotedName(name)}`),
    ...gone.map(({ kind, name }) => (kind === 'primary' ? 'DROP PRIMARY KEY' : `DROP KEY ${quotedName(name)}`)),
    ...after.columns
      .map(writeColumn)
      .filter((text) => !said.has(text))
      .map((text) => `MODIFY ${text}`),
    ...after.keys.filter((key) => !isIn(before.keys, key)).map((key) => `ADD ${writeKey(key, types)}`),
    ...after.foreignKeys.filter((key) => !isIn(before.foreignKeys, key)).map((key) => `ADD ${writeForeignKey(key)}`),
    ...after.checks.filter((check) => !isIn(before.checks, check)).map((check) => `ADD ${writeCheck(check)}`),
    ...(after.autoIncrement === before.autoIncrement || after.autoIncrement === undefined
      ? []
      : [`AUTO_INCREMENT=${after.autoIncrement}`]),
    ...(after.comment === before.comment ? [] : [`COMMENT=${quoted(after.comment)}`]),
    ...(after.collation === before.collation
      ? []
      : [`DEFAULT CHARSET=${word(charsetOf(after.collation))} ${collate('COLLATE=', after.collation)}`]),
  ]
  return changes.length === 0 ? undefined : `ALTER TABLE ${quotedName(after.name)} ${changes.join(', ')}`
}

const writeForeignKey = ({ name, columns, table, referenced, onDelete, onUpdate }: ForeignKeyDefinition): string =>
  `CONSTRAINT ${quotedName(name)} FOREIGN KEY (${columns.map(quotedName)}) REFERENCES ${quotedName(table)} (${referenced.map(quotedName)})` +
  (onDelete === 'NO ACTION' ? '' : ` ON DELETE ${onDelete}`) +
  (onUpdate === 'NO ACTION' ? '' : ` ON UPDATE ${onUpdate}`)

const writeCheck = ({ name, clause, isEnforced }: CheckDefinition): string =>
  `CONSTRAINT ${quotedName(name)} CHECK (${clause})${isEnforced ? '' : ' /*!80016 NOT ENFORCED */'}`

function writeColumn(column: ColumnDefinition): string {
  const { generated } = column
  return [
    quotedName(column.name),
    columnTypeOf(column).replace(/^geomcollection/, 'geometrycollection'),
    ...charset(column),
    ...(generated
      ? [`GENERATED ALWAYS AS (${generated.expression}) ${generated.isStored ? 'STORED' : 'VIRTUAL'}`]
      : []),
    ...(column.isNullable ? (column.dataType === 'timestamp' ? ['NULL'] : []) : ['NOT NULL']),
    ...(column.isAutoIncrement ? ['AUTO_INCREMENT'] : []),
    ...(generated ? [] : defaultOf(column)),
    ...(column.setsTimeOnUpdate ? [`ON UPDATE CURRENT_TIMESTAMP${fraction(column)}`] : []),
    ...(column.comment ? [`COMMENT ${quoted(column.comment)}`] : []),
  ].join(' ')
}

/** Returns the charset, or nothing for the default: then the server takes the table's own, as intended. */
function charset({ charset: name, collation }: ColumnDefinition): string[] {
  if (name === null || collation === null || (name === defaultCharset && collation === defaultCollation)) return []
  return [`CHARACTER SET ${word(name)} ${collate('COLLATE ', collation)}`]
}

/** Returns the complete table. If it uses features that only MariaDB has, this is the server's text. */
export const textOfTable = (table: TableDefinition): string => table.ownText ?? writeTable(table)

/** Returns the nearest collation of MariaDB 10.11 for one that only MySQL 8 has, and the exact one for MySQL. */
function collate(before: string, collation: string): string {
  const name = word(collation)
  const near = nearest(name)
  return near === name ? before + name : `${before}${near} /*!80000 ${before}${name} */`
}

function defaultOf(column: ColumnDefinition): string[] {
  if (column.isAutoIncrement) return []
  const { default: value } = column
  if (!value) return column.isNullable ? ['DEFAULT NULL'] : []
  if (value.kind === 'now') return [`DEFAULT CURRENT_TIMESTAMP${fraction(column)}`]
  if (value.kind === 'expression') return [`DEFAULT (${value.text})`]
  return [`DEFAULT ${column.dataType === 'bit' ? value.text : quoted(value.text)}`]
}

const fraction = ({ size }: ColumnDefinition): string => (size === undefined ? '' : `(${size})`)

function writeKey({ kind, name, parts, comment }: KeyDefinition, types: Map<string, ColumnDefinition>): string {
  const word = {
    primary: 'PRIMARY KEY',
    unique: 'UNIQUE KEY',
    plain: 'KEY',
    fulltext: 'FULLTEXT KEY',
    spatial: 'SPATIAL KEY',
  }[kind]
  const columns = parts.map(({ column, length, isDescending }) => {
    const needsLength =
      kind !== 'fulltext' && kind !== 'spatial' && LONG.test(types.get(column.toLowerCase())?.dataType ?? '')
    const order = isDescending ? ' DESC' : ''
    if (length !== undefined && kind !== 'spatial') return `${quotedName(column)}(${length})${order}`
    if (!needsLength) return quotedName(column) + order
    // MariaDB compares whole values, with a hash. MySQL cannot, and values with the same beginning are not duplicates.
    const prefix = kind === 'unique' ? ` /*!${MYSQL_ALONE} (${KEY_PREFIX}) */` : `(${KEY_PREFIX})`
    return quotedName(column) + prefix + order
  })
  return `${word}${kind === 'primary' ? '' : ` ${quotedName(name)}`} (${columns.join(', ')})${comment ? ` COMMENT ${quoted(comment)}` : ''}`
}

/** Checks names of engines, charsets, and collations. They are written without quotes, so nothing else is allowed. */
const word = (name: string): string => (/^\w{1,64}$/.test(name) ? name : 'utf8mb4')
