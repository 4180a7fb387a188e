import { writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { DumpOutput, dumpHead, dumpTail, MOST_INSERT_BYTES } from '../sql/dump-text.ts'
import { type DumpableTable, dumpableTables } from '../sql/dumpable-tables.ts'
import { quotedName, writeTable } from '../sql/write-table.ts'
import { DATABASE_NAME } from '../sqlite-place.ts'
import { openHostile } from './open.ts'
import type { DumpOrder } from './orders.ts'

/** Writes all tables, then their rows, as they are at this moment. */
export function dumpDatabase({ folder, tables: wanted }: DumpOrder): void {
  const database = openHostile(join(folder, DATABASE_NAME))
  database.exec('BEGIN')
  const names = wanted && new Set(wanted.map((name) => name.toLowerCase()))
  const tables = dumpableTables(database).filter(({ definition }) => !names || names.has(definition.name.toLowerCase()))
  const out = new DumpOutput(toStandardOutput)
  out.text(dumpHead)
  for (const { definition } of tables)
    out.text(`DROP TABLE IF EXISTS ${quotedName(definition.name)};\n${writeTable(definition)};\n\n`)
  for (const table of tables) dumpRows(database, table, out)
  out.text(dumpTail)
  out.flush()
  database.close()
}

/** Writes a piece. Blocks while the reader does not read. */
function toStandardOutput(piece: Uint8Array): void {
  for (let at = 0; at < piece.length; ) at += writeSync(1, piece, at)
}

function dumpRows(database: DatabaseSync, { definition, columns, order }: DumpableTable, out: DumpOutput): void {
  // Selects text as its bytes: a string would lose text that is not UTF-8.
  const selected = columns.map(({ name, isTyped }) => {
    const column = quotedName(name)
    return isTyped
      ? `CAST(${column} AS BLOB), 1`
      : `iif(typeof(${column}) = 'text', CAST(${column} AS BLOB), ${column}), typeof(${column}) = 'text'`
  })
  const rows = database.prepare(`SELECT ${selected.join(', ')} FROM ${quotedName(definition.name)} ${order}`)
  rows.setReturnArrays(true)
  rows.setReadBigInts(true)
  const head = `INSERT INTO ${quotedName(definition.name)} (${columns.map(({ name }) => quotedName(name)).join(', ')}) VALUES\n`
  let bytes = 0
  for (const row of rows.iterate() as unknown as Iterable<unknown[]>) {
    const before = out.written
    if (bytes > 0 && bytes < MOST_INSERT_BYTES) out.text(',\n(')
    else {
      out.text(`${bytes > 0 ? ';\n' : ''}${head}(`)
      bytes = 0
    }
    for (let at = 0; at < row.length; at += 2) {
      if (at > 0) out.text(',')
      writeValue(out, row[at], Boolean(row[at + 1]), columns[at / 2]?.isBit === true)
    }
    out.text(')')
    bytes += out.written - before
  }
  if (bytes > 0) out.text(';\n\n')
}

function writeValue(out: DumpOutput, value: unknown, isText: boolean, isBit: boolean): void {
  if (value === null) out.text('NULL')
  else if (typeof value === 'bigint') out.text(isBit && value >= 0n ? `b'${value.toString(2)}'` : String(value))
  else if (typeof value === 'number') out.text(realText(value))
  else if (value instanceof Uint8Array) out.quoted(value, isText)
}

/**
 * Returns the shortest text that is read as the same number. MySQL has no infinite numbers: the largest replaces them.
 */
function realText(value: number): string {
  if (Number.isFinite(value))
    return Object.is(value, -0) ? '-0e0' : /[.e]/.test(String(value)) ? String(value) : `${value}e0`
  return value > 0 ? '1.7976931348623157e308' : '-1.7976931348623157e308'
}
