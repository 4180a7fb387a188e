import { prefixesOf } from './prefixes.ts'
import type { DumpEvent, Value } from './read-dump.ts'
import type { TableDefinition } from './table.ts'

/** What a dump says of the site that it is of. */
export interface FoundInDump {
  /** Of the tables of each WordPress in it: `wp_`. */
  readonly prefixes: readonly string[]
  /** The options of the first of them; undefined where it has none. */
  readonly home?: string
  readonly siteurl?: string
}

const MOST_TABLES = 20_000
const LONGEST_ADDRESS = 400
const MOST_PREFIXES = 20

/** Finds out of which WordPress a dump is, while it is read. */
export class LookIntoDump {
  readonly #names: string[] = []
  /** Tables of options, by their names: what is looked for in them. */
  readonly #options = new Map<string, { readonly table: TableDefinition; home?: string; siteurl?: string }>()

  take(event: DumpEvent): void {
    if (event.kind === 'create') {
      if (this.#names.length < MOST_TABLES) this.#names.push(event.table.name)
      if (/options$/.test(event.table.name) && this.#options.size < MOST_TABLES)
        this.#options.set(event.table.name, { table: event.table })
    } else if (event.kind === 'row' && event.table.endsWith('options')) this.#look(event)
  }

  get found(): FoundInDump {
    const prefixes = prefixesOf(this.#names).slice(0, MOST_PREFIXES)
    const { home: directory, siteurl } = this.#options.get(`${prefixes[0]}options`) ?? {}
    return { prefixes, ...(directory !== undefined && { home: directory }), ...(siteurl !== undefined && { siteurl }) }
  }

  #look({ table, columns, values }: Extract<DumpEvent, { kind: 'row' }>): void {
    const options = this.#options.get(table)
    if (!options) return
    const names = columns ?? options.table.columns.filter(({ generated }) => !generated).map(({ name }) => name)
    const name = textOf(values[names.indexOf('option_name')])
    if (name !== 'home' && name !== 'siteurl') return
    options[name] = textOf(values[names.indexOf('option_value')])?.slice(0, LONGEST_ADDRESS)
  }
}

const textOf = (value: Value | undefined): string | undefined =>
  value && 'bytes' in value && value.bytes.length < LONGEST_ADDRESS * 4
    ? Buffer.from(value.bytes).toString()
    : undefined

/** What a contained child says of a dump: its words are a site's. */
export function foundIn(said: unknown): FoundInDump {
  const { prefixes, home: directory, siteurl } = said as Record<string, unknown>
  const text = (value: unknown) => String(value).slice(0, LONGEST_ADDRESS)
  return {
    prefixes: Array.isArray(prefixes) ? prefixes.slice(0, MOST_PREFIXES).map(text) : [],
    ...(directory !== undefined && { home: text(directory) }),
    ...(siteurl !== undefined && { siteurl: text(siteurl) }),
  }
}
