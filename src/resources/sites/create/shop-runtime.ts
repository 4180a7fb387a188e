import { isOnMariaDb } from '../../../hosting/mariadb/on-mariadb.ts'
import { type PhpVersion, phpVersions } from '../../../hosting/php/runtime.ts'
import { isOnServer } from '../../../hosting/site-database/database-kind.ts'
import type { HostServices } from '../../kit/host-services.ts'

/**
 * Returns a PHP version for a shop that runs natively with MariaDB: the wanted one, else the newest. Returns undefined
 * if none does.
 */
export const versionForShop = (
  databaseOf: (version: PhpVersion) => string | undefined,
  wanted: PhpVersion,
): PhpVersion | undefined => [wanted, ...phpVersions.toReversed()].find((version) => isOnServer(databaseOf(version)))

/** Advice to the owner of a shop that uses the embedded database although MariaDB is available. */
export const shopAdvice = (version: string): string =>
  'This shop uses the embedded database. WooCommerce is designed for MariaDB, and the host of this site has it. ' +
  `To move the site, send PUT /v1/sites/{id}/runtime with {"runtime":"native","php_version":"${version}"}.`

/**
 * Returns the same advice on the host, for the warning of an operation. Returns undefined if the site uses MariaDB, or
 * the host does not have it.
 */
export function adviceForShop(
  { databaseKindFor }: Pick<HostServices, 'databaseKindFor'>,
  { siteDirectory, phpVersion }: { readonly siteDirectory: string; readonly phpVersion: PhpVersion },
): string | undefined {
  const version = isOnMariaDb(siteDirectory) ? undefined : versionForShop(databaseKindFor, phpVersion)
  return version && shopAdvice(version)
}
