import { isOnMariaDb } from '../../../hosting/mariadb/on-mariadb.ts'
import { type PhpVersion, phpVersions } from '../../../hosting/php/runtime.ts'
import type { DatabaseKind } from '../../../hosting/site-database/database-kind.ts'
import type { HostServices } from '../../kit/host-services.ts'

/** Returns the PHP version of a shop that runs natively with MariaDB: the wanted one, else the newest. `undefined`: there is none. */
export const versionForShop = (
  databaseOf: (version: PhpVersion) => string | undefined,
  wanted: PhpVersion,
): PhpVersion | undefined =>
  [wanted, ...phpVersions.toReversed()].find((version) => databaseOf(version) === ('mariadb' satisfies DatabaseKind))

/** What the owner of a shop on the embedded database is told where MariaDB is available. */
export const shopAdvice = (version: string): string =>
  'This shop uses the embedded database. WooCommerce is made for MariaDB, and the host of this site has it. ' +
  `To move the site, send PUT /v1/sites/{id}/runtime with {"runtime":"native","php_version":"${version}"}.`

/** The same on the host, for the warning of an operation. `undefined`: the site is on MariaDB, or the host does not have it. */
export function adviceForShop(
  { databaseKindFor }: Pick<HostServices, 'databaseKindFor'>,
  { siteDirectory, phpVersion }: { readonly siteDirectory: string; readonly phpVersion: PhpVersion },
): string | undefined {
  const version = isOnMariaDb(siteDirectory) ? undefined : versionForShop(databaseKindFor, phpVersion)
  return version && shopAdvice(version)
}
