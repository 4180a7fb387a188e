/*
 * Sums of a database, small enough to keep: the number of rows of each part of a table, and a sum of their hashes, which
 * does not depend on their order. Two sums of one database show what has changed between them. So a copy
 * that has the content of the first only needs these parts.
 */

/** Number of rows, and the sum of their hashes in digits. */
export type RowSum = readonly [rows: number, sum: string]

/** Parts of a table: rows whose column, divided by the size and cut to an integer, is the same. */
export interface TableParts {
  /** First column of the primary key, an integer. */
  readonly column: string
  readonly size: string
}

export interface TableSums {
  /** The server's definition of the table. */
  readonly text: string
  /** Null for a table that is one part. */
  readonly parts: TableParts | null
  /** By the quotient, or by an empty text for a table that is one part. Empty parts are not in it. */
  readonly sums: Readonly<Record<string, RowSum>>
}

/** By the names of tables. */
export type DatabaseSums = Readonly<Record<string, TableSums>>

/** Totals by the names of tables. */
export type DatabaseTotals = Readonly<Record<string, RowSum>>

export interface ChangedParts extends TableParts {
  /** Quotients. */
  readonly changed: readonly string[]
}

/** The difference of a database between two moments. */
export interface DatabaseChange {
  /** Tables that are gone. */
  readonly gone: readonly string[]
  /** New tables, and those of which everything counts as changed. */
  readonly whole: readonly string[]
  /** By the names of tables. */
  readonly parts: Readonly<Record<string, ChangedParts>>
  /** Sums of the whole database at the second moment. */
  readonly totals: DatabaseTotals
}

/** A table with more changed parts is written as a whole. */
const MOST_CHANGED_PARTS = 500

export function changeBetween(before: DatabaseSums, now: DatabaseSums): DatabaseChange {
  const whole: string[] = []
  const parts: Record<string, ChangedParts> = {}
  for (const [name, table] of Object.entries(now)) {
    const known = before[name]
    const isAlike = known?.text === table.text && isSameParts(known.parts, table.parts)
    const changed = isAlike ? changedOf(known.sums, table.sums) : []
    if (!isAlike || changed.length > MOST_CHANGED_PARTS || (changed.length > 0 && !table.parts)) whole.push(name)
    else if (changed.length > 0 && table.parts) parts[name] = { ...table.parts, changed }
  }
  return { gone: Object.keys(before).filter((name) => !now[name]), whole, parts, totals: totalsOf(now) }
}

const isSameParts = (one: TableParts | null, other: TableParts | null): boolean =>
  one?.column === other?.column && one?.size === other?.size

function changedOf(before: TableSums['sums'], now: TableSums['sums']): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(now)])
  return [...keys].filter((key) => !isSameSum(before[key], now[key]))
}

const isSameSum = (one: RowSum | undefined, other: RowSum | undefined): boolean =>
  one?.[0] === other?.[0] && one?.[1] === other?.[1]

export function totalsOf(sums: DatabaseSums): DatabaseTotals {
  const total = ({ sums: parts }: TableSums): RowSum => {
    const all = Object.values(parts)
    return [all.reduce((rows, [more]) => rows + more, 0), String(all.reduce((sum, [, more]) => sum + BigInt(more), 0n))]
  }
  return Object.fromEntries(Object.entries(sums).map(([name, table]) => [name, total(table)]))
}

/** @returns what the other database has differently, in words, or undefined if nothing */
export function totalsDifference(wanted: DatabaseTotals, found: DatabaseTotals): string | undefined {
  for (const [name, sum] of Object.entries(wanted)) {
    const there = found[name]
    if (!there) return `the table ${name} is missing`
    if (there[0] !== sum[0]) return `the table ${name} has ${there[0]} rows instead of ${sum[0]}`
    if (there[1] !== sum[1]) return `rows of the table ${name} are not the same`
  }
  const more = Object.keys(found).find((name) => !wanted[name])
  return more === undefined ? undefined : `there is an additional table ${more}`
}
