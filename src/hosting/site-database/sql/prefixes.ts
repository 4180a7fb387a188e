import type { Value } from './read-dump.ts'
import type { ColumnDefinition, TableDefinition } from './table.ts'
import { quotedName } from './write-table.ts'

/** A prefix of table names, and its replacement. */
export interface PrefixChange {
  readonly from: string
  readonly to: string
}

/** The placeholder that All-in-One WP Migration writes for the prefix of tables. */
export const PREFIX_PLACEHOLDER = 'SERVMASK_PREFIX_'

/** Names in `usermeta` that begin with the table prefix, for an empty prefix: those that WordPress itself writes. */
const OF_USERS =
  /^(?:\d+_)?(?:capabilities|user_level|user-settings|user-settings-time|dashboard_quick_press_last_post_id|media_library_mode)$/

/**
 * Gives tables another prefix, and changes what WordPress finds by it: the option of the roles, and the rights of
 * users. Each blog of a network has tables and options with its number after the prefix.
 */
export class PrefixNames {
  readonly #changes: readonly PrefixChange[]

  constructor(changes: readonly PrefixChange[]) {
    // The longest first, because wp_ is a prefix of wp_2_.
    this.#changes = changes
      .filter(({ from, to }) => from !== to)
      .toSorted((one, other) => other.from.length - one.from.length)
  }

  table(name: string): string {
    const change = this.#of(name)
    return change ? change.to + name.slice(change.from.length) : name
  }

  definition(table: TableDefinition): TableDefinition {
    if (this.#changes.length === 0) return table
    const name = this.table(table.name)
    const { ownText } = table
    const head = `CREATE TABLE ${quotedName(table.name)} `
    return {
      ...table,
      name,
      foreignKeys: table.foreignKeys.map((key) => ({ ...key, table: this.table(key.table) })),
      ...(ownText?.startsWith(head) && { ownText: `CREATE TABLE ${quotedName(name)} ${ownText.slice(head.length)}` }),
    }
  }

  /**
   * @param name the table's name in the dump
   * @returns undefined when its rows do not contain the prefix
   */
  rowsOf(
    name: string,
    columns: readonly ColumnDefinition[],
  ): ((values: readonly Value[]) => readonly Value[]) | undefined {
    const change = this.#of(name)
    if (!change) return undefined
    const rest = name.slice(change.from.length)
    const isOptions = /^(?:\d+_)?options$/i.test(rest)
    if (!isOptions && rest.toLowerCase() !== 'usermeta') return undefined
    const wanted = isOptions ? 'option_name' : 'meta_key'
    const at = columns.findIndex((column) => column.name.toLowerCase() === wanted)
    if (at < 0) return undefined
    const isOfPrefix = isOptions
      ? (key: string) => /^(?:\d+_)?user_roles$/.test(key)
      : (key: string) => change.from !== '' || OF_USERS.test(key)
    return (values) => {
      const value = values[at] as Value
      if (!('bytes' in value) || value.bytes.length > 1000) return values
      const text = Buffer.from(value.bytes).toString()
      if (!text.startsWith(change.from) || !isOfPrefix(text.slice(change.from.length))) return values
      return values.with(at, { kind: 'string', bytes: Buffer.from(change.to + text.slice(change.from.length)) })
    }
  }

  #of(name: string): PrefixChange | undefined {
    return this.#changes.find(({ from }) => name.startsWith(from))
  }
}

/** The tables that every WordPress has. One that shares its users with another has no table of users. */
const CORE_TABLES = ['options', 'posts', 'postmeta']
/** The limit for one dump. Further sites are ignored. */
const MOST_SITES = 100

/**
 * Returns the WordPress installations that own these tables, in order. A table belongs to the one with the longest
 * prefix.
 */
export function sitesOf(tables: readonly string[]): { readonly prefix: string; readonly tables: readonly string[] }[] {
  const all = new Set(tables.map((name) => name.toLowerCase()))
  const found = new Map<string, string>()
  for (const name of tables) {
    const prefix = /options$/i.test(name) ? name.slice(0, -'options'.length) : undefined
    if (prefix !== undefined && CORE_TABLES.every((table) => all.has(prefix.toLowerCase() + table)))
      found.set(prefix.toLowerCase(), prefix)
  }
  const sites = new Map<string, string[]>()
  for (const prefix of found.keys()) {
    // The prefixes of a network's blogs belong to the network, which is the only one with users.
    const base = prefix.replace(/\d+_$/, '')
    const isBlog = base !== prefix && found.has(base) && !all.has(`${prefix}users`)
    if (!isBlog && sites.size < MOST_SITES) sites.set(prefix, [])
  }
  const longestFirst = [...sites.keys()].toSorted((one, other) => other.length - one.length)
  for (const name of tables) {
    const prefix = longestFirst.find((each) => name.toLowerCase().startsWith(each))
    if (prefix !== undefined) sites.get(prefix)?.push(name)
  }
  return [...sites].map(([prefix, own]) => ({ prefix: found.get(prefix) as string, tables: own }))
}
