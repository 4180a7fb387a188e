import type { ConfigConstants } from '../site-files/platform/wp-config-file.ts'
import type { Template } from './template.ts'

/** A statement with its values, in SQL that SQLite and MariaDB both understand. */
export type SqlEdit = readonly [statement: string, ...values: string[]]

type Place = { readonly path: string }

/** Databases of site directories that are on a server and not in the site directory. */
export interface DirectoryDatabases {
  /** Creates the database and its account with the template's content. Replaces whatever was there. */
  make(directory: Place, template: Template): Promise<void>
  /** Creates both without content unless they exist. */
  ensure(directory: Place): Promise<void>
  /** Creates both for a site directory that uses something else until {@link DirectoryDatabases.turn}. */
  prepareNext(directory: Place): Promise<void>
  /** Switches the site directory's site to the server, or away from it. Deletes nothing on the server. */
  turn(directory: Place, isOn: boolean): Promise<void>
  /** Restores the template's content and applies the edits, in one transaction. */
  fill(directory: Place, templatePath: string, edits: readonly SqlEdit[]): Promise<void>
  /** Removes everything that the site directory has on the server. Does nothing when it has nothing. */
  drop(directory: Place): Promise<void>
  /** Returns what `wp-config.php` says of the database. */
  constants(directory: Place): Promise<ConfigConstants>
  /** Returns the numbers of site directories that have something on the server. */
  numbers(): Promise<number[]>
  /**
   * Locks the account, even for clients with the password, until {@link DirectoryDatabases.recover}. Deletes nothing.
   */
  quarantine(directory: Place): Promise<void>
  recover(directory: Place): Promise<void>
}
