import { writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type DumpableTable, dumpableTables } from '../sql/dumpable-tables.ts'
import { quotedName, writeTable } from '../sql/write-table.ts'
import { openHostile } from './open.ts'
import type { DumpOrder } from './orders.ts'

/** An INSERT that is longer gets no further row: servers take 16 MB at once by default. */
const MOST_INSERT_BYTES = 1 << 20
const PIECE_BYTES = 1 << 16

const HEAD = `-- Stead dump 1
--
-- For MariaDB 10.11 and later, MySQL 8 and later, and Stead. The last line says that it is complete.

SET NAMES utf8mb4;
SET time_zone = '+00:00';
SET foreign_key_checks = 0;
SET unique_checks = 0;
SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO';
/*M!100201 SET check_constraint_checks = 0 */;

`

/** Writes all tables, then their rows, as they are at this moment. */
export function dumpDatabase({ folder, tables: wanted }: DumpOrder): void {
  const database = openHostile(join(folder, 'site.sqlite'))
  database.exec('BEGIN')
  const names = wanted && new Set(wanted.map((name) => name.toLowerCase()))
  const tables = dumpableTables(database).filter(({ definition }) => !names || names.has(definition.name.toLowerCase()))
  const out = new Output()
  out.text(HEAD)
  for (const { definition } of tables)
    out.text(`DROP TABLE IF EXISTS ${quotedName(definition.name)};\n${writeTable(definition)};\n\n`)
  for (const table of tables) dumpRows(database, table, out)
  out.text('SET unique_checks = 1;\nSET foreign_key_checks = 1;\n\n-- Dump completed\n')
  out.flush()
  database.close()
}

function dumpRows(database: DatabaseSync, { definition, columns, order }: DumpableTable, out: Output): void {
  // text as its bytes: as a string it would lose those that are no UTF-8
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

function writeValue(out: Output, value: unknown, isText: boolean, isBit: boolean): void {
  if (value === null) out.text('NULL')
  else if (typeof value === 'bigint') out.text(isBit && value >= 0n ? `b'${value.toString(2)}'` : String(value))
  else if (typeof value === 'number') out.text(realText(value))
  else if (value instanceof Uint8Array) out.quoted(value, isText)
}

/** The shortest that is read as the same number. MySQL has none that are endless: the largest stands for them. */
function realText(value: number): string {
  if (Number.isFinite(value))
    return Object.is(value, -0) ? '-0e0' : /[.e]/.test(String(value)) ? String(value) : `${value}e0`
  return value > 0 ? '1.7976931348623157e308' : '-1.7976931348623157e308'
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** By byte: the letter that stands for it after a backslash; 0: it stands for itself. */
const ESCAPES = new Uint8Array(256)
for (const [byte, letter] of ['\0' + '0', '\nn', '\rr', '\u001aZ', '""', "''", '\\\\'])
  ESCAPES[(byte as string).charCodeAt(0)] = (letter as string).charCodeAt(0)

/** Standard output, in pieces: the writing waits when the reader does. */
class Output {
  #flushed = 0
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES)
  #used = 0

  /** Bytes that were given to it. */
  get written(): number {
    return this.#flushed + this.#used
  }

  text(text: string): void {
    if (text.length * 3 > PIECE_BYTES - this.#used) {
      this.flush()
    }
    if (text.length * 3 > PIECE_BYTES) this.#write(Buffer.from(text))
    else this.#used += this.#piece.write(text, this.#used)
  }

  /** A string; one that is no text, or only pretends to be, as bytes. */
  quoted(bytes: Uint8Array, isText: boolean): void {
    this.text(isText && isUtf8(bytes) ? "'" : "_binary '")
    const piece = this.#piece
    let used = this.#used
    for (let at = 0; at < bytes.length; at++) {
      if (used + 2 > PIECE_BYTES) {
        this.#used = used
        this.flush()
        used = 0
      }
      const byte = bytes[at] as number
      const letter = ESCAPES[byte] as number
      if (letter !== 0) piece[used++] = 0x5c
      piece[used++] = letter === 0 ? byte : letter
    }
    this.#used = used
    this.text("'")
  }

  flush(): void {
    const used = this.#used
    this.#used = 0
    this.#write(this.#piece.subarray(0, used))
  }

  #write(bytes: Uint8Array): void {
    this.#flushed += bytes.length
    for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at)
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes)
    return true
  } catch {
    return false
  }
}
