import type { BackupStore } from '../../backups/backup-store.ts'
import type { Config } from '../../config.ts'
import type { CoreLibrary } from '../../hosting/core-library/core-library.ts'
import type { CoreSource } from '../../hosting/core-library/core-source.ts'
import type { PageToMeasure } from '../../hosting/page-measure/measure-page.ts'
import type { PhpPool, PooledSite } from '../../hosting/php/pool/pool.ts'
import type { Containment, PhpVersion } from '../../hosting/php/runtime.ts'
import type { PluginDirectory } from '../../hosting/plugin-directory/plugin-directory.ts'
import type { PluginPackages } from '../../hosting/plugin-directory/plugin-packages.ts'
import type { DatabaseContent } from '../../hosting/site-database/database-content.ts'
import type { DatabaseKind } from '../../hosting/site-database/database-kind.ts'
import type { SiteDirectories } from '../../hosting/site-directories/site-directories.ts'
import type { Spares } from '../../hosting/site-directories/spares.ts'
import type { Template } from '../../hosting/site-directories/template.ts'
import type { FileContent } from '../../hosting/site-files/file-content.ts'
import type { FirstPages } from '../../hosting/web-server/first-pages.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import type { Database } from '../../platform/db/database.ts'
import type { SiteHooks } from './site-hooks.ts'

/** What a host gives to the operations that are bound to its sites. */
export interface HostServices {
  readonly config: Config
  readonly hostId: number
  readonly database: Database
  readonly sealer: Sealer
  readonly backups: BackupStore
  readonly siteDirectories: SiteDirectories
  readonly spares: Spares
  readonly pool: PhpPool
  /** For the first visitors of new sites. */
  readonly firstPages: Pick<FirstPages, 'keep'>
  /** Databases of sites as a whole. */
  readonly siteDatabase: DatabaseContent
  /** One kind of databases, whatever a site directory says that it has. @throws when this host has none */
  databaseContent(kind: DatabaseKind): DatabaseContent
  /** It runs PHP in WebAssembly. */
  readonly hasWasm: boolean
  containment(): Containment
  /** What the database of a new site is, by the version of its PHP. */
  databaseKindFor(version: PhpVersion): DatabaseKind
  /** The files of sites, as a whole. */
  readonly siteFiles: FileContent
  readonly pluginDirectory: PluginDirectory
  readonly pluginPackages: PluginPackages
  readonly siteHooks: readonly SiteHooks[]
  /** The golden copy; waits while it is being made. @throws CoreUnavailable when no WordPress is to be had */
  template(): Promise<Template>
  /**
   * A release of WordPress is there when it resolves: from where releases come from, else from another source.
   * @throws CoreUnavailable
   */
  ensureCore(version: string, otherwise: CoreSource, signal: AbortSignal): Promise<void>
  /** Releases of WordPress. */
  readonly cores: Pick<CoreLibrary, 'ensure' | 'offers'>
  /** Opens a page of a site in a browser, and measures it. @throws MeasureImpossible, MeasureFailed: their texts may be shown */
  measurePage(page: PageToMeasure): Promise<unknown>
  /** The site as the pool knows it; `undefined` while it has no site directory or no content. */
  hostedSite(siteId: number): Promise<PooledSite | undefined>
  /** Ends a site's SFTP connections; when it resolves none of them touches a file any more. @returns how many there were */
  endSftp(siteId: number): Promise<number>
  /** Prepared site directories and spares are made again, in the background. */
  refill(): void
}
