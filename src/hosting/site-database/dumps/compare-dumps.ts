import { createHash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { DumpReader, type Value } from '../sql/read-dump.ts'
import { type ColumnDefinition, sqliteTypes, type TableDefinition } from '../sql/table.ts'

/** The bytes that are read between two turns of the event loop. */
const SLICE_BYTES = 64 << 10

/** The number of rows of a table, and their sum, which does not depend on their order. */
export interface Sum {
  rows: number
  hash: bigint
  readonly table: TableDefinition
}

/**
 * The content of a dump, small enough to keep: dumps of equal content have equal summaries, whichever kind of database
 * wrote them. By table name, in lower case.
 */
export type DumpSummary = ReadonlyMap<string, Sum>

/** Summarizes a dump while it passes. */
export interface Summing {
  through(dump: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Returns the summary, after everything has passed. */
  summary(): DumpSummary
}

/** @returns what the other one has differently, in words, or undefined if nothing */
export function dumpDifference(one: DumpSummary, other: DumpSummary): string | undefined {
  for (const [name, sum] of one) {
    const there = other.get(name)
    if (!there) return `the table ${sum.table.name} is missing`
    if (there.rows !== sum.rows) return `the table ${sum.table.name} has ${there.rows} rows instead of ${sum.rows}`
    if (there.hash !== sum.hash) return `rows of the table ${sum.table.name} are not the same`
  }
  const more = [...other.keys()].find((name) => !one.has(name))
  return more === undefined ? undefined : `there is an additional table ${more}`
}

/** Summarizes in this thread, which handles each value in one piece. */
export function sumUp(): Summing {
  const sums = new Map<string, Sum>()
  const reader = new DumpReader()
  const take = (events: ReturnType<DumpReader['write']>) => {
    for (const event of events) {
      if (event.kind === 'create') sums.set(event.table.name.toLowerCase(), { rows: 0, hash: 0n, table: event.table })
      if (event.kind !== 'row') continue
      const sum = sums.get(event.table.toLowerCase())
      if (!sum) continue
      sum.rows++
      sum.hash = BigInt.asUintN(64, sum.hash + hashOf(sum.table, event.columns, event.values))
    }
  }
  return {
    async *through(dump) {
      for await (const piece of dump) {
        for (let at = 0; at < piece.length; at += SLICE_BYTES) {
          if (at > 0) await breathe()
          take(reader.write(piece.subarray(at, at + SLICE_BYTES)))
        }
        yield piece
      }
      take(reader.finish())
    },
    summary: () => sums,
  }
}

/**
 * Loads a dump, and compares the result with it.
 * @param dump returns a dump of the loaded database
 * @returns the differences, in words
 */
export async function differenceOfLoaded(
  sql: AsyncIterable<Uint8Array>,
  load: (sql: AsyncIterable<Uint8Array>) => Promise<unknown>,
  dump: () => AsyncIterable<Uint8Array>,
  begin: () => Summing = sumUp,
): Promise<string | undefined> {
  const [wanted, found] = [begin(), begin()]
  await load(wanted.through(sql))
  for await (const _piece of found.through(dump()));
  return dumpDifference(wanted.summary(), found.summary())
}

function hashOf(table: TableDefinition, names: readonly string[] | undefined, values: readonly Value[]): bigint {
  const columns = names ?? table.columns.filter(({ generated }) => !generated).map(({ name }) => name)
  const parts = columns.map((name, index): [string, Buffer] => {
    const column = table.columns.find((each) => each.name.toLowerCase() === name.toLowerCase())
    return [name.toLowerCase(), plain(values[index] as Value, column)]
  })
  const hash = createHash('sha1')
  for (const [name, value] of parts.sort(([one], [other]) => (one < other ? -1 : 1)))
    hash.update(`${name} ${value.length} `).update(value)
  return hash.digest().readBigUInt64BE()
}

const NULL = Buffer.from('\0null')

/** Returns a value in the form that both kinds of database share. */
function plain(value: Value, column: ColumnDefinition | undefined): Buffer {
  if (value.kind === 'null') return NULL
  const bytes = value.kind === 'number' ? Buffer.from(value.text) : Buffer.from(value.bytes)
  const type = column && sqliteTypes[column.dataType]
  if (type === 'INTEGER' && value.kind === 'bits')
    return Buffer.from(String(BigInt(`0x${bytes.toString('hex') || '0'}`)))
  if (type === 'INTEGER' || type === 'REAL') {
    const text = bytes.toString('latin1')
    if (type === 'INTEGER' && /^[-+]?\d+$/.test(text)) return Buffer.from(String(BigInt(text)))
    const number = Number(text)
    return Buffer.from(String(column?.dataType === 'float' ? Math.fround(number) : number))
  }
  // Trailing spaces are not part of a CHAR.
  return column?.dataType === 'char' ? Buffer.from(bytes.toString('latin1').replace(/ +$/, ''), 'latin1') : bytes
}
