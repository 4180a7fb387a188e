/**
 * A table as MySQL knows it. It connects the text of a dump with the tables in which WordPress' SQLite plugin keeps the
 * same.
 */
export interface TableDefinition {
  readonly name: string
  /** `InnoDB`. */
  readonly engine: string
  readonly collation: string
  readonly comment: string
  /** The number of the next row, or undefined when none was assigned yet. */
  readonly autoIncrement: bigint | undefined
  readonly columns: readonly ColumnDefinition[]
  readonly keys: readonly KeyDefinition[]
  readonly foreignKeys: readonly ForeignKeyDefinition[]
  readonly checks: readonly CheckDefinition[]
  /** Features beyond all this, which only MariaDB has. Default: none. */
  readonly more?: readonly Beyond[]
  /** Set with `more`: the table in the server's text, as `server-text.ts` writes it. */
  readonly ownText?: string
}

/** A feature of a table that the rest of its definition cannot express. */
export interface Beyond {
  /** The column that has it. Default: the table itself. */
  readonly column?: string
  /** A description: `uuid`, `PARTITION`. */
  readonly what: string
  /** Whether no text of the table contains it, so that it cannot be restored. */
  readonly isLost?: boolean
}

export interface ColumnDefinition {
  readonly name: string
  /** Without the length: `varchar`. */
  readonly dataType: string
  /**
   * The text in parentheses after it, without them: `20`, `10,2`, and the values of enum and set as MySQL writes them.
   */
  readonly size: string | undefined
  readonly isUnsigned: boolean
  readonly isZerofill: boolean
  /** The charset of text, or null for other types. */
  readonly charset: string | null
  readonly collation: string | null
  readonly isNullable: boolean
  readonly default: DefaultValue | undefined
  readonly isAutoIncrement: boolean
  readonly setsTimeOnUpdate: boolean
  readonly comment: string
  /** Set if the column is computed from others, and has no stored value in a dump. */
  readonly generated: { readonly expression: string; readonly isStored: boolean } | undefined
}

export type DefaultValue =
  | { readonly kind: 'value'; readonly text: string }
  /** CURRENT_TIMESTAMP. */
  | { readonly kind: 'now' }
  /** MySQL's text of it, without the parentheses around it. */
  | { readonly kind: 'expression'; readonly text: string }

export interface KeyDefinition {
  readonly kind: 'primary' | 'unique' | 'plain' | 'fulltext' | 'spatial'
  /** `PRIMARY` for a primary one. */
  readonly name: string
  readonly parts: readonly {
    readonly column: string
    readonly length: number | undefined
    readonly isDescending: boolean
  }[]
  readonly comment: string
}

export interface ForeignKeyDefinition {
  readonly name: string
  readonly columns: readonly string[]
  readonly table: string
  readonly referenced: readonly string[]
  /** `CASCADE`, `SET NULL`, `SET DEFAULT`, `RESTRICT`, `NO ACTION`. */
  readonly onDelete: string
  readonly onUpdate: string
}

export interface CheckDefinition {
  readonly name: string
  /** MySQL's text, without the parentheses around it. */
  readonly clause: string
  readonly isEnforced: boolean
}

/** The SQLite types of MySQL columns, in tables that the plugin creates (`DATA_TYPE_STRING_MAP` of its driver). */
export const sqliteTypes: Readonly<Record<string, 'INTEGER' | 'REAL' | 'TEXT' | 'BLOB'>> = {
  ...of('INTEGER', 'bit tinyint smallint mediumint int bigint'),
  ...of('REAL', 'float double decimal'),
  ...of('TEXT', 'char varchar tinytext text mediumtext longtext enum set json date time datetime timestamp year'),
  ...of('BLOB', 'binary varbinary tinyblob blob mediumblob longblob'),
  ...of('TEXT', 'geometry point linestring polygon multipoint multilinestring multipolygon geomcollection'),
}

function of<Type>(type: Type, names: string): Record<string, Type> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]))
}

/** Text types that have a charset and a collation. */
export const textTypes: ReadonlySet<string> = new Set(
  'char varchar tinytext text mediumtext longtext enum set'.split(' '),
)

/** The plugin's default: MySQL 8's own. */
export const defaultCharset = 'utf8mb4'
export const defaultCollation = 'utf8mb4_0900_ai_ci'

/** Returns the full type as MySQL shows it: `bigint(20) unsigned`. */
export function columnTypeOf({ dataType, size, isUnsigned, isZerofill }: ColumnDefinition): string {
  return [
    dataType + (size === undefined ? '' : `(${size})`),
    ...(isUnsigned ? ['unsigned'] : []),
    ...(isZerofill ? ['zerofill'] : []),
  ].join(' ')
}

/** Returns the charset that a collation belongs to. */
export const charsetOf = (collation: string): string => collation.split('_')[0] as string

/** Returns the nearest collation of MariaDB 10.11 for one that only MySQL 8 has. */
export function nearest(collation: string): string {
  if (!/^\w+_0900_/.test(collation)) return collation
  return /_(bin|as_cs)$/.test(collation) ? 'utf8mb4_bin' : 'utf8mb4_unicode_520_ci'
}
