import { setImmediate as breathe } from 'node:timers/promises'
import { type DumpEvent, DumpReader, type Value } from '../site-database/sql/read-dump.ts'
import { readableDump } from '../site-database/sql/readable-dump.ts'

/** Settings of WordPress that tell what a site is. */
const OPTIONS = new Set(['active_plugins', 'blogname', 'db_version', 'home', 'siteurl', 'stylesheet', 'template'])
const MOST_OPTION_BYTES = 256 << 10
const MOST_TABLES = 20_000
const SLICE_BYTES = 64 << 10

/** A WordPress among the tables of a dump. */
export interface DumpSite {
  readonly prefix: string
  readonly tables: number
  readonly rows: number
  readonly isNetwork: boolean
  readonly options: Readonly<Record<string, string>>
}

/** What a dump has. */
export interface DumpFacts {
  readonly tables: number
  readonly rows: number
  /** By their prefixes. */
  readonly sites: readonly DumpSite[]
}

interface Known {
  readonly name: string
  readonly columns: readonly string[]
  rows: number
  readonly options: Record<string, string>
}

/** Reads a dump to its end, and keeps a few words of it. @throws UnreadableSql */
export async function lookAtDump(dump: AsyncIterable<Uint8Array>): Promise<DumpFacts> {
  const tables = new Map<string, Known>()
  const reader = new DumpReader({ isForeign: true })
  const take = (events: Iterable<DumpEvent>) => {
    for (const event of events) note(tables, event)
  }
  for await (const piece of readableDump(dump))
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      if (at > 0) await breathe()
      take(reader.write(piece.subarray(at, at + SLICE_BYTES)))
    }
  take(reader.finish())
  return factsOf([...tables.values()])
}

function note(tables: Map<string, Known>, event: DumpEvent): void {
  if (event.kind === 'create') {
    if (tables.size >= MOST_TABLES) throw new Error('there are too many tables')
    const { name, columns } = event.table
    const stored = columns.filter(({ generated }) => !generated)
    tables.set(name.toLowerCase(), { name, columns: stored.map((each) => each.name), rows: 0, options: {} })
  }
  if (event.kind !== 'row') return
  const table = tables.get(event.table.toLowerCase())
  if (!table) return
  table.rows++
  if (!table.name.endsWith('options')) return
  const columns = event.columns ?? table.columns
  const value = (column: string) => textOf(event.values[columns.indexOf(column)])
  const name = value('option_name')
  if (name !== undefined && OPTIONS.has(name)) table.options[name] = value('option_value') ?? ''
}

function textOf(value: Value | undefined): string | undefined {
  if (value === undefined || value.kind === 'null') return undefined
  if (value.kind === 'number') return value.text
  return value.bytes.length > MOST_OPTION_BYTES ? '' : Buffer.from(value.bytes).toString()
}

/** Tables without which there is no WordPress. */
const CORE_TABLES = ['options', 'posts', 'users', 'usermeta']

function factsOf(tables: readonly Known[]): DumpFacts {
  const names = new Set(tables.map(({ name }) => name))
  const rowsOf = (some: readonly Known[]) => some.reduce((sum, { rows }) => sum + rows, 0)
  const sites = tables
    .filter(({ name }) => name.endsWith('options'))
    .map(({ name, options }) => ({ prefix: name.slice(0, -'options'.length), options }))
    .filter(({ prefix }) => CORE_TABLES.every((table) => names.has(prefix + table)))
    .map(({ prefix, options }): DumpSite => {
      const own = tables.filter(({ name }) => name.startsWith(prefix))
      return {
        ...{ prefix, options, tables: own.length, rows: rowsOf(own) },
        isNetwork: ['blogs', 'site', 'sitemeta'].every((table) => names.has(prefix + table)),
      }
    })
  return { tables: tables.length, rows: rowsOf(tables), sites }
}
