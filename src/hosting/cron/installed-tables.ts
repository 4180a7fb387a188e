import { isOnMariaDb } from '../mariadb/on-mariadb.ts'
import { named, rowsOf } from '../mariadb/server/connect.ts'
import type { SiteDatabases } from '../mariadb/site-databases.ts'
import { sitesOf } from '../site-database/sql/prefixes.ts'
import { DATABASE_FILE } from '../site-database/sqlite-place.ts'
import { openInside } from '../site-files/open-inside.ts'
import { SqlitePages } from './sqlite-pages.ts'
import { readingOf } from './wordpress-options.ts'

/** Facts about a site's WordPress that its database reveals without wp-config.php. */
export interface InstalledTables {
  readonly prefixes: readonly string[]
  /** The network of the first prefix, if it has one. */
  readonly network?: InstalledNetwork
}

export interface InstalledNetwork {
  readonly networkId: number
  readonly domain: string
  readonly path: string
  readonly blogId: number
  readonly isSubdomainInstall: boolean
}

interface Tables {
  readonly names: readonly string[]
  /** Reads the first columns of the first rows, as text. */
  first(table: string, columns: number): Promise<(string | undefined)[][]>
}

/** A network has about 30 settings of its own. */
const MOST_ROWS = 1000
const OF_WORDPRESS = /^\w{0,64}(?:options|posts|postmeta|site|sitemeta)$/

/**
 * Reads the database of a site whose PHP is not running, without WordPress.
 * @throws when the database cannot be read
 */
export async function installedTables(
  siteDirectory: string,
  databases: SiteDatabases | undefined,
): Promise<InstalledTables> {
  if (!isOnMariaDb(siteDirectory)) return lookIntoFile(siteDirectory)
  if (!databases) throw new Error('this host has no MariaDB')
  return lookIntoServer(siteDirectory, databases)
}

async function lookIntoFile(siteDirectory: string): Promise<InstalledTables> {
  const file = await openInside(siteDirectory, DATABASE_FILE)
  if (!file) return { prefixes: [] }
  try {
    const pages = await SqlitePages.open(readingOf(file.handle), file.stats.size)
    const roots = await pages.tables(OF_WORDPRESS)
    return await whatTheySay({
      names: [...roots.keys()],
      async first(table, columns) {
        const found: (string | undefined)[][] = []
        for await (const row of pages.rows(roots.get(table) as number)) {
          // The first column of WordPress' tables is the row ID.
          found.push(Array.from({ length: columns }, (_, at) => (at === 0 ? String(row.id) : row.text(at))))
          if (found.length === MOST_ROWS) break
        }
        return found
      },
    })
  } finally {
    await file.handle.close()
  }
}

async function lookIntoServer(siteDirectory: string, databases: SiteDatabases): Promise<InstalledTables> {
  const { current } = databases.namesOf({ siteDirectory })
  const connection = await databases.server.connect(await databases.worker({ siteDirectory }))
  try {
    const tables = await rowsOf(
      connection,
      'SELECT table_name FROM information_schema.tables WHERE table_schema = ? ORDER BY table_name LIMIT 10000',
      [current],
    )
    return await whatTheySay({
      names: tables.flatMap(([name]) => (name !== undefined && OF_WORDPRESS.test(name) ? [name] : [])),
      first: (table) =>
        rowsOf(connection, `SELECT * FROM ${named(current)}.${named(table)} ORDER BY 1 LIMIT ${MOST_ROWS}`),
    })
  } finally {
    connection.destroy()
  }
}

async function whatTheySay({ names, first }: Tables): Promise<InstalledTables> {
  const prefixes = sitesOf(names).map((each) => each.prefix)
  const [prefix] = prefixes
  const [site, sitemeta] = [`${prefix}site`, `${prefix}sitemeta`]
  if (prefix === undefined || !names.includes(site) || !names.includes(sitemeta)) return { prefixes }
  const [[id, domain, path] = []] = await first(site, 3)
  if (id === undefined || !domain || !path) return { prefixes }
  const meta = await first(sitemeta, 4)
  const of = (wanted: string) => meta.find(([, network, name]) => isSame(network, id) && name === wanted)?.[3]
  const isSubdomainInstall = Number(of('subdomain_install') ?? 0) === 1
  return {
    prefixes,
    network: { networkId: Number(id), domain, path, blogId: Number(of('main_site') ?? 1), isSubdomainInstall },
  }
}

/** Numbers in a file are not stored as text, so an unknown value matches too. */
const isSame = (found: string | undefined, id: string) => found === undefined || found === id
