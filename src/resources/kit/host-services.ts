import type { BackupStore } from '../../backups/backup-store.ts'
import type { Config } from '../../config.ts'
import type { CoreLibrary } from '../../hosting/core-library/core-library.ts'
import type { CoreSource } from '../../hosting/core-library/core-source.ts'
import type { PagesToCompare } from '../../hosting/page-measure/compare-pictures.ts'
import type { PageToMeasure } from '../../hosting/page-measure/measure-page.ts'
import type {
  ComparedPictures,
  OnPage,
  PagesToPicture,
  PagesToPictureAgain,
  TakenPictures,
} from '../../hosting/page-measure/take-pictures.ts'
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
import type { Database } from '../../platform/db/database.ts'
import type { SiteHooks } from './site-hooks.ts'

/** What a host gives to the operations on its sites. */
export interface HostServices {
  readonly config: Config
  readonly hostId: number
  readonly database: Database
  /**
   * Opens the secret of one of its operations, as the definition declares it.
   * @throws OperatorError when a control has to open it, and does not
   */
  openSecret(operationId: number): Promise<string>
  readonly backups: BackupStore
  /**
   * Has a control store a release of WordPress in the storage, for a host that may not. Other hosts use the copy.
   * @returns a warning if the control cannot get it
   * @throws StorageFailure
   */
  readonly storeCore?: (version: string, signal: AbortSignal) => Promise<string | undefined>
  readonly siteDirectories: SiteDirectories
  readonly spares: Spares
  readonly pool: PhpPool
  /** Stores the first pages of new sites for their first visitors. */
  readonly firstPages: Pick<FirstPages, 'keep'>
  /** Whole databases of sites. */
  readonly siteDatabase: DatabaseContent
  /**
   * Returns the content of one kind of database, whatever the site directory uses.
   * @throws when this host has none
   */
  databaseContent(kind: DatabaseKind): DatabaseContent
  /** Whether it runs PHP in WebAssembly. */
  readonly hasWasm: boolean
  containment(): Containment
  /** Returns the kind of database for a new site with this PHP version. */
  databaseKindFor(version: PhpVersion): DatabaseKind
  /** All files of sites. */
  readonly siteFiles: FileContent
  readonly pluginDirectory: PluginDirectory
  readonly pluginPackages: PluginPackages
  readonly siteHooks: readonly SiteHooks<HostServices>[]
  /**
   * Returns the golden template. Waits while it is being created.
   * @throws CoreUnavailable when no WordPress can be fetched
   */
  template(): Promise<Template>
  /**
   * Ensures that a WordPress release is present, from its usual source or else from another one.
   * @throws CoreUnavailable
   */
  ensureCore(version: string, otherwise: CoreSource, signal: AbortSignal): Promise<void>
  /** WordPress releases. */
  readonly cores: Pick<CoreLibrary, 'ensure' | 'offers'>
  /**
   * Opens a page of a site in a browser, and measures it.
   * @throws MeasureImpossible, MeasureFailed, whose messages may be shown
   */
  measurePage(page: PageToMeasure): Promise<unknown>
  /**
   * Opens two pages in a browser, and compares their pictures.
   * @returns how much of them differs, in percent
   * @throws MeasureImpossible, MeasureFailed, whose messages may be shown
   */
  comparePictures(pages: PagesToCompare): Promise<number>
  /**
   * Takes pictures of pages in a browser, before an update.
   * @throws MeasureImpossible, whose message may be shown
   */
  takePictures(pages: PagesToPicture, onPage: OnPage<TakenPictures>): Promise<void>
  /**
   * Takes pictures of pages after an update, and compares them with those from before.
   * @throws MeasureImpossible, whose message may be shown
   */
  comparePicturesAfter(pages: PagesToPictureAgain, onPage: OnPage<ComparedPictures>): Promise<void>
  /** Returns the site in the form that the pool uses, or `undefined` while it has no site directory or no content. */
  hostedSite(siteId: number): Promise<PooledSite | undefined>
  /**
   * Ends a site's SFTP connections. When it resolves, none of them accesses a file any longer.
   * @returns how many there were
   */
  endSftp(siteId: number): Promise<number>
  /** Resolves when a start of this host without the database would not serve sites whose PHP is held. */
  keepClosed(): Promise<void>
  /** Prepares new site directories and spares, in the background. */
  refill(): void
}
