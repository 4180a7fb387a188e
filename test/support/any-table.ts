/** Tables as WordPress and its plugins create them, and stranger ones, with rows. */
import fc from 'fast-check'
import {
  type ColumnDefinition,
  defaultCharset,
  defaultCollation,
  type KeyDefinition,
  type TableDefinition,
  textTypes,
} from '../../src/hosting/site-database/sql/table.ts'

const anyName = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_]{0,15}$/) },
  fc.stringMatching(/^[a-zA-Z`'"\\ ;.-]{1,12}$/).filter((name) => name.trim() === name),
  fc.constantFrom('select', 'naïve', 'ÄÖ', 'group', '0day', '表'),
)

const types: readonly (readonly [string, string | undefined])[] = [
  ...(['tinyint', 'smallint', 'mediumint', 'int', 'bigint'] as const).flatMap((type) => [[type, undefined] as const]),
  ['bigint', '20'],
  ['tinyint', '1'],
  ['bit', '8'],
  ['float', undefined],
  ['double', undefined],
  ['decimal', '26,8'],
  ['char', '10'],
  ['varchar', '191'],
  ['varchar', '255'],
  ['tinytext', undefined],
  ['text', undefined],
  ['mediumtext', undefined],
  ['longtext', undefined],
  ['enum', "'a','it''s','ü'"],
  ['set', "'x','y','z'"],
  ['json', undefined],
  ['date', undefined],
  ['time', undefined],
  ['datetime', undefined],
  ['timestamp', undefined],
  ['year', '4'],
  ['binary', '8'],
  ['varbinary', '200'],
  ['tinyblob', undefined],
  ['blob', undefined],
  ['longblob', undefined],
]
const whole = /int$/
const isLong = (dataType: string): boolean => /text$|blob$|^json$/.test(dataType)

const defaults: Readonly<Record<string, readonly string[]>> = {
  tinyint: ['0', '-5', '127'],
  int: ['0', '-2147483648'],
  bigint: ['0', '9223372036854775807'],
  decimal: ['0.00000000', '1.50000000'],
  double: ['0', '1.5'],
  char: ['', "it's", 'a\\b'],
  varchar: ['', "it's", 'a\\b', 'line\nbreak', '0', 'CURRENT_TIMESTAMP'],
  enum: ['a', "it's"],
  date: ['0000-00-00'],
  datetime: ['0000-00-00 00:00:00', '2026-01-02 03:04:05'],
}

const anyColumn: fc.Arbitrary<ColumnDefinition> = fc
  .record({
    name: anyName,
    type: fc.constantFrom(...types),
    isUnsigned: fc.boolean(),
    isNullable: fc.boolean(),
    pick: fc.nat(20),
    collation: fc.constantFrom(undefined, undefined, 'utf8mb4_bin', 'latin1_swedish_ci', 'utf8mb4_unicode_520_ci'),
    comment: fc.constantFrom('', '', "it's \\ a comment"),
    setsTimeOnUpdate: fc.boolean(),
  })
  .map(({ name, type: [dataType, size], isUnsigned, isNullable, pick, collation, comment, setsTimeOnUpdate }) => {
    const isText = textTypes.has(dataType)
    const isTime = dataType === 'timestamp' || dataType === 'datetime'
    const text = defaults[dataType]?.[pick]
    return {
      name,
      dataType,
      size,
      // MariaDB then refuses a default below zero
      isUnsigned: whole.test(dataType) && size !== '1' && isUnsigned && !text?.startsWith('-'),
      isZerofill: false,
      charset: isText ? (collation?.split('_')[0] ?? defaultCharset) : null,
      collation: isText ? (collation ?? defaultCollation) : null,
      isNullable,
      default:
        isTime && pick % 3 === 0
          ? { kind: 'now' as const }
          : text === undefined
            ? undefined
            : { kind: 'value' as const, text },
      isAutoIncrement: false,
      setsTimeOnUpdate: isTime && setsTimeOnUpdate,
      comment,
      generated: undefined,
    }
  })

/** A table with an auto-increment column, with another key, or without a key. */
export const anyTable: fc.Arbitrary<TableDefinition> = fc
  .record({
    name: anyName,
    columns: fc.uniqueArray(anyColumn, { minLength: 1, maxLength: 8, selector: ({ name }) => name.toLowerCase() }),
    id: fc.constantFrom('counts', 'counts', 'key', 'none'),
    keys: fc.array(
      fc.record({
        kind: fc.constantFrom('plain', 'plain', 'unique', 'fulltext' as const),
        at: fc.array(fc.nat(7), { minLength: 1, maxLength: 3 }),
        isDescending: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    autoIncrement: fc.constantFrom(undefined, 2n, 1000n),
    comment: fc.constantFrom('', '', 'a table'),
    collation: fc.constantFrom('utf8mb4_0900_ai_ci', 'utf8mb4_unicode_520_ci', 'utf8mb4_bin'),
    engine: fc.constantFrom('InnoDB', 'InnoDB', 'MyISAM'),
  })
  .map(({ id, keys: wanted, autoIncrement, columns: others, ...table }) => {
    const own: ColumnDefinition = {
      ...(others[0] as ColumnDefinition),
      name: 'own id',
      dataType: 'bigint',
      size: '20',
      isUnsigned: true,
      charset: null,
      collation: null,
      isNullable: false,
      default: undefined,
      isAutoIncrement: id === 'counts',
      setsTimeOnUpdate: false,
    }
    const columns = [...(id === 'none' ? [] : [own]), ...others]
    const primary: KeyDefinition[] =
      id === 'none'
        ? []
        : [
            {
              kind: 'primary',
              name: 'PRIMARY',
              comment: '',
              parts: [{ column: own.name, length: undefined, isDescending: false }],
            },
          ]
    // a MyISAM key has at most 1,000 bytes
    const isTooLongForMyIsam = (dataType: string) => table.engine === 'MyISAM' && dataType === 'varchar'
    const keys = wanted.flatMap(({ kind, at, isDescending }, number) => {
      const chosen = [...new Set(at.map((place) => others[place % others.length] as ColumnDefinition))]
      // MySQL allows such keys only over columns of one collation
      const isText = chosen.every(({ dataType }) => /char$|text$/.test(dataType))
      const fits = kind !== 'fulltext' || (isText && new Set(chosen.map(({ collation }) => collation)).size === 1)
      if (!fits || chosen.some(({ dataType }) => dataType === 'json')) return []
      return {
        kind: kind as KeyDefinition['kind'],
        name: `key ${number}`,
        comment: '',
        parts: chosen.map(({ name, dataType }) => ({
          column: name,
          length: kind !== 'fulltext' && (isLong(dataType) || isTooLongForMyIsam(dataType)) ? 20 : undefined,
          isDescending: kind === 'plain' && isDescending,
        })),
      }
    })
    return {
      ...table,
      autoIncrement: id === 'counts' ? autoIncrement : undefined,
      columns,
      keys: [...primary, ...keys],
      foreignKeys: [],
      checks: [],
    }
  })
