import type { Beyond, TableDefinition } from './table.ts'

/** The number of tables, and of features of a table, that are named. Others are counted. */
const NAMED = 3
const LONGEST_NAME = 64

type Tables = readonly Pick<TableDefinition, 'name' | 'more'>[]

/**
 * Describes what only MariaDB can restore, and what no backup includes of these tables. Returns undefined without any.
 */
export function describeBeyond(tables: Tables): string | undefined {
  const kept = listed(tables, ({ isLost }) => !isLost)
  const lost = listed(tables, ({ isLost }) => isLost === true)
  const says = [kept && `Only MariaDB can restore all of ${kept}`, lost && `Not in the backup: ${lost}`]
  return says.filter(Boolean).join('. ') || undefined
}

/** Describes what the server did not accept of loaded tables. */
export function describeLost(tables: Tables): string | undefined {
  const lost = listed(tables, ({ isLost }) => !isLost)
  return lost && `The database does not have all of ${lost}`
}

function listed(tables: Tables, wanted: (beyond: Beyond) => boolean): string | undefined {
  const found = tables
    .map(({ name, more = [] }) => ({ name, things: [...new Set(more.filter(wanted).map(describeColumn))] }))
    .filter(({ things }) => things.length > 0)
  if (found.length === 0) return undefined
  return shortened(
    found.map(({ name, things }) => `${cut(name)} (${shortened(things)})`),
    'table',
  )
}

const describeColumn = ({ column, what }: Beyond): string =>
  column === undefined ? what : `column ${cut(column)}: ${what}`

function shortened(all: readonly string[], what = 'thing'): string {
  const more = all.length - NAMED
  const counted = more > 0 ? `, and ${more} more ${what}${more === 1 ? '' : 's'}` : ''
  return all.slice(0, NAMED).join(', ') + counted
}

const cut = (name: string): string => name.slice(0, LONGEST_NAME)
