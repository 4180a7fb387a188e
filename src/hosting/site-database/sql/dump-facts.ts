import { sitesOf } from './prefixes.ts'
import type { DumpEvent, Value } from './read-dump.ts'

/** A WordPress installation among the tables of a dump. */
export interface DumpSite {
  /** The prefix of its tables: `wp_`. */
  readonly prefix: string
  /** Includes those of its blogs, if it is a network. */
  readonly tables: number
  readonly rows: number
  readonly isNetwork: boolean
  /** Whether the tables of users exist, which a site may share with another one. */
  readonly hasUsers: boolean
  /** The `OPTIONS` that it has. */
  readonly options: Readonly<Record<string, string>>
}

/** The contents of a dump. */
export interface DumpFacts {
  readonly tables: number
  readonly rows: number
  /** In the order of their tables. */
  readonly sites: readonly DumpSite[]
}

/** How many rows a table has. */
export interface TableRows {
  readonly table: string
  readonly rows: number
}

/** A summary of the site in a dump. */
export interface FoundInDump {
  /** The table prefixes of each WordPress in it: `wp_`. */
  readonly prefixes: readonly string[]
  /** The options of the first of them, or undefined if it has none. */
  readonly home?: string
  readonly siteurl?: string
}

/** Settings of WordPress that characterize a site. */
const OPTIONS = new Set(['active_plugins', 'blogname', 'db_version', 'home', 'siteurl', 'stylesheet', 'template'])
const MOST_OPTION_BYTES = 256 << 10
/** The limit for all settings together, because a dump may have any number of tables called options. */
const MOST_KEPT_BYTES = 4 << 20
/** Tables beyond these are counted, and not kept. */
const MOST_TABLES = 100_000
const LONGEST_ADDRESS = 400
const MOST_PREFIXES = 20
/** Tables that make a WordPress a network. */
const OF_NETWORKS = ['blogs', 'site', 'sitemeta']

interface Known {
  readonly name: string
  rows: number
  /** For a table of options. */
  readonly options?: { readonly columns: readonly string[]; readonly found: Record<string, string> }
}

/** Finds the WordPress installations in a dump while it is read. The dump is untrusted input. */
export class LookIntoDump {
  /** By their names in lower case. */
  readonly #tables = new Map<string, Known>()
  #more = 0
  #rows = 0
  #keptBytes = 0

  take(event: DumpEvent): void {
    if (event.kind === 'create') this.#create(event)
    else if (event.kind === 'row') this.#row(event)
  }

  get facts(): DumpFacts {
    const known = [...this.#tables.values()]
    const sites = sitesOf(known.map(({ name }) => name)).map(({ prefix, tables }): DumpSite => {
      const own = tables.map((name) => this.#tables.get(name.toLowerCase()) as Known)
      const names = new Set(tables.map((name) => name.toLowerCase()))
      const has = (table: string) => names.has(`${prefix}${table}`.toLowerCase())
      return {
        ...{ prefix, tables: own.length, rows: own.reduce((sum, { rows }) => sum + rows, 0) },
        isNetwork: OF_NETWORKS.every(has),
        hasUsers: ['users', 'usermeta'].every(has),
        options: { ...this.#tables.get(`${prefix}options`.toLowerCase())?.options?.found },
      }
    })
    return { tables: known.length + this.#more, rows: this.#rows, sites }
  }

  /** The tables of WordPress, or all if there is none. */
  get rowsByTable(): TableRows[] {
    const names = [...this.#tables.values()].map(({ name }) => name)
    const ofSites = sitesOf(names).flatMap(({ tables }) => tables)
    return (ofSites.length > 0 ? ofSites : names).map((table) => ({
      table,
      rows: this.#tables.get(table.toLowerCase())?.rows ?? 0,
    }))
  }

  get found(): FoundInDump {
    const { sites } = this.facts
    const { home: directory, siteurl } = sites[0]?.options ?? {}
    return foundIn({
      prefixes: sites.map(({ prefix }) => prefix),
      ...(directory !== undefined && { home: directory }),
      ...(siteurl !== undefined && { siteurl }),
    })
  }

  #create({ table, ifAbsent }: Extract<DumpEvent, { kind: 'create' }>): void {
    const { name } = table
    const key = name.toLowerCase()
    if (this.#tables.has(key) ? ifAbsent : this.#tables.size >= MOST_TABLES) {
      if (!ifAbsent) this.#more++
      return
    }
    const columns = () => table.columns.flatMap((each) => (each.generated ? [] : [each.name.toLowerCase()]))
    const options = key.endsWith('options') && { options: { columns: columns(), found: {} } }
    this.#tables.set(key, { name, rows: 0, ...options })
  }

  #row({ table, columns, values }: Extract<DumpEvent, { kind: 'row' }>): void {
    this.#rows++
    const known = this.#tables.get(table.toLowerCase())
    if (!known) return
    known.rows++
    if (!known.options) return
    const names = columns?.map((name) => name.toLowerCase()) ?? known.options.columns
    const value = (column: string) => textOf(values[names.indexOf(column)])
    const name = value('option_name')
    if (name === undefined || !OPTIONS.has(name)) return
    const text = value('option_value') ?? ''
    this.#keptBytes += Buffer.byteLength(text)
    if (this.#keptBytes <= MOST_KEPT_BYTES) known.options.found[name] = text
  }
}

function textOf(value: Value | undefined): string | undefined {
  if (value === undefined || value.kind === 'null') return undefined
  if (value.kind === 'number') return value.text
  return value.bytes.length > MOST_OPTION_BYTES ? '' : Buffer.from(value.bytes).toString()
}

/** Checks what a contained child reports about a dump, because a site can influence it. */
export function foundIn(said: unknown): FoundInDump {
  const { prefixes, home: directory, siteurl } = said as Record<string, unknown>
  const text = (value: unknown) => String(value).slice(0, LONGEST_ADDRESS)
  return {
    prefixes: Array.isArray(prefixes) ? prefixes.slice(0, MOST_PREFIXES).map(text) : [],
    ...(directory !== undefined && { home: text(directory) }),
    ...(siteurl !== undefined && { siteurl: text(siteurl) }),
  }
}
