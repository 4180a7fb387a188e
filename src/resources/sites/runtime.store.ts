import { hostFacts } from '../../hosting/host.store.ts'
import { type PhpVersion, versionForAll } from '../../hosting/php/runtime.ts'
import type { DatabaseKind } from '../../hosting/site-database/database-kind.ts'
import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { versionForShop } from './create/shop-runtime.ts'
import { problems } from './problems.ts'
import type { Install } from './site.ts'

/** What a host has said that it runs PHP by. Empty: it has said nothing yet. */
export interface HostRuntimes {
  readonly databases: Readonly<Record<string, string | undefined>>
  readonly runtimes: Readonly<Record<string, string | undefined>>
  /** It runs PHP in WebAssembly. */
  readonly hasWasm: boolean
}

export async function runtimesOfHost(tx: Tx, hostId: number | null): Promise<HostRuntimes> {
  const facts = hostId === null ? undefined : await hostFacts(tx, hostId)
  const containment = facts?.containment as { runtimes?: HostRuntimes['runtimes'] } | undefined
  return {
    databases: (facts?.databases ?? {}) as HostRuntimes['databases'],
    runtimes: containment?.runtimes ?? {},
    hasWasm: facts?.hasWasm !== false,
  }
}

/** What a new site of a host has where nobody named a version: the usual one, or what its host runs in place of that. A shop has MariaDB if it can. */
export function versionOfNewSite(host: HostRuntimes, usual: PhpVersion, install: Install): PhpVersion {
  const { runtimes, databases } = host
  const ofShop = install === 'woocommerce' && versionForShop((version) => databases[version], usual)
  return ofShop || (runtimes[usual] === 'refused' ? versionForAll(runtimes) : usual)
}

/** Whether a host can run a site with a PHP version and a kind of database. A host that has said nothing yet may. */
export function canRun({ runtimes }: HostRuntimes, version: string, database: DatabaseKind | undefined): boolean {
  const runtime = runtimes[version]
  return runtime !== 'refused' && !(database === 'mariadb' && runtime === 'wasm')
}

/** Rejects a version that a host cannot run. @throws Problem php_version_not_there */
export function requireVersion(host: HostRuntimes, version: string, database: DatabaseKind | undefined): void {
  if (!canRun(host, version, database))
    throw new Problem(problems.php_version_not_there, {
      version,
      how: database === 'mariadb' ? 'natively, which the database of the site requires,' : 'at all',
    })
}

/** What the database of a site is. */
export async function databaseOfSite(tx: Tx, siteId: number): Promise<DatabaseKind> {
  const directory = await tx
    .selectFrom('site_homes')
    .select('database')
    .where('site_id', '=', siteId)
    .executeTakeFirst()
  return directory?.database ?? 'sqlite'
}
