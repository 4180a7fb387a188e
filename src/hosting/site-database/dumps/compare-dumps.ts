import { createHash } from 'node:crypto'
import { setImmediate as breathe } from 'node:timers/promises'
import { DumpReader, type Value } from '../sql/read-dump.ts'
import { type ColumnDefinition, sqliteTypes, type TableDefinition } from '../sql/table.ts'

/** Read between two turns of the event loop. */
const SLICE_BYTES = 64 << 10

/** How many rows of a table there are, and what they add up to, in whatever order they come. */
export interface Sum {
  rows: number
  hash: bigint
  readonly table: TableDefinition
}

/** What a dump has, small enough to be kept: two of equal content are equal, whichever kind of database wrote them. By table, in small letters. */
export type DumpSummary = ReadonlyMap<string, Sum>

/** Sums a dump up while it passes. */
export interface Summing {
  through(dump: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** Of what has passed, when all has. */
  summary(): DumpSummary
}

/** @returns in words what the other one has otherwise; undefined: nothing */
export function differenceOf(one: DumpSummary, other: DumpSummary): string | undefined {
  for (const [name, sum] of one) {
    const there = other.get(name)
    if (!there) return `the table ${sum.table.name} is missing`
    if (there.rows !== sum.rows) return `the table ${sum.table.name} has ${there.rows} rows in place of ${sum.rows}`
    if (there.hash !== sum.hash) return `rows of the table ${sum.table.name} are not the same`
  }
  const more = [...other.keys()].find((name) => !one.has(name))
  return more === undefined ? undefined : `there is a table ${more} more`
}

/** Sums up in this thread, which handles each value whole. */
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
 * Loads a dump, and compares what is there then with what it says.
 * @param dump of what was loaded
 * @returns what differs, in words
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
  return differenceOf(wanted.summary(), found.summary())
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

/** A value as both kinds of database mean it. */
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
  // spaces at its end are no part of a CHAR
  return column?.dataType === 'char' ? Buffer.from(bytes.toString('latin1').replace(/ +$/, ''), 'latin1') : bytes
}
