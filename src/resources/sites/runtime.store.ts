import { factsOfHosts, hostFacts } from '../../hosting/host.store.ts'
import { type PhpVersion, versionForAll } from '../../hosting/php/runtime.ts'
import { reachesServers } from '../../hosting/php/runtime-kinds.ts'
import { type DatabaseKind, embeddedKind, isOnServer } from '../../hosting/site-database/database-kind.ts'
import type { Tx } from '../../platform/db/database.ts'
import { Problem } from '../../platform/http/problem.ts'
import { versionForShop } from './create/shop-runtime.ts'
import { problems } from './problems.ts'
import type { Install } from './site.ts'

/** How a host runs PHP, as it reports. Empty before its first report. */
export interface HostRuntimes {
  readonly databases: Readonly<Record<string, string | undefined>>
  readonly runtimes: Readonly<Record<string, string | undefined>>
  /** Whether it runs PHP in WebAssembly. */
  readonly hasWasm: boolean
}

export async function runtimesOfHost(tx: Tx, hostId: number | null): Promise<HostRuntimes> {
  return runtimesIn(hostId === null ? undefined : await hostFacts(tx, hostId))
}

/** Returns the runtimes of several hosts with one statement, by their ids. */
export async function runtimesOfHosts(tx: Tx, hostIds: readonly number[]): Promise<ReadonlyMap<number, HostRuntimes>> {
  const facts = await factsOfHosts(tx, hostIds)
  return new Map(hostIds.map((id) => [id, runtimesIn(facts.get(id))]))
}

function runtimesIn(facts: Readonly<Record<string, unknown>> | undefined): HostRuntimes {
  const containment = facts?.containment as { runtimes?: HostRuntimes['runtimes'] } | undefined
  return {
    databases: (facts?.databases ?? {}) as HostRuntimes['databases'],
    runtimes: containment?.runtimes ?? {},
    hasWasm: facts?.hasWasm !== false,
  }
}

/**
 * Returns the version of a new site if the request names none: the usual one, or what its host runs instead. A shop
 * gets MariaDB if possible.
 */
export function versionOfNewSite(host: HostRuntimes, usual: PhpVersion, install: Install): PhpVersion {
  const { runtimes, databases } = host
  const ofShop = install === 'woocommerce' && versionForShop((version) => databases[version], usual)
  return ofShop || (runtimes[usual] === 'refused' ? versionForAll(runtimes) : usual)
}

/**
 * Returns whether a host can run a site with this PHP version and kind of database. Assumes so before the host's first
 * report.
 */
export function canRun({ runtimes }: HostRuntimes, version: string, database: DatabaseKind | undefined): boolean {
  const runtime = runtimes[version]
  return runtime !== 'refused' && (!isOnServer(database) || reachesServers(runtime))
}

/** Returns whether a host can take a site with this PHP version and kind of database, which it must have itself. */
export function canTake(host: HostRuntimes, version: string, database: DatabaseKind): boolean {
  const hasDatabase = isOnServer(database) ? host.databases[version] === database : host.hasWasm
  return hasDatabase && canRun(host, version, database)
}

/**
 * Rejects a version that a host cannot run.
 * @throws Problem php_version_not_there
 */
export function requireVersion(host: HostRuntimes, version: string, database: DatabaseKind | undefined): void {
  if (!canRun(host, version, database))
    throw new Problem(problems.php_version_not_there, {
      version,
      how: isOnServer(database) ? 'natively, which the database of the site requires,' : 'at all',
    })
}

/** Returns the kind of a site's database. */
export async function databaseOfSite(tx: Tx, siteId: number): Promise<DatabaseKind> {
  const directory = await tx
    .selectFrom('site_homes')
    .select('database')
    .where('site_id', '=', siteId)
    .executeTakeFirst()
  return directory?.database ?? embeddedKind
}
