import type { ConfigConstants } from '../site-files/platform/wp-config-file.ts'
import type { Template } from './template.ts'

/** A statement with its values, in words that SQLite and MariaDB both understand. */
export type Edit = readonly [statement: string, ...values: string[]]

type Place = { readonly path: string }

/** Databases of site directories that are on a server, and not in the site directory. */
export interface DirectoryDatabases {
  /** Makes the database and its account, with what the template has; from nothing, whatever was there. */
  make(directory: Place, template: Template): Promise<void>
  /** Makes them with nothing inside, unless they are there. */
  ensure(directory: Place): Promise<void>
  /** Makes them for a site directory that runs on something else until {@link DirectoryDatabases.turn}. */
  prepareNext(directory: Place): Promise<void>
  /** The site directory's site runs on it from now on, or does not any more: what is on the server stays. */
  turn(directory: Place, isOn: boolean): Promise<void>
  /** Puts back what the template has, and changes it, in one go. */
  fill(directory: Place, templatePath: string, edits: readonly Edit[]): Promise<void>
  /** Takes all away that the site directory has on the server. May be called for one that has nothing. */
  drop(directory: Place): Promise<void>
  /** What `wp-config.php` says of it. */
  constants(directory: Place): Promise<ConfigConstants>
  /** Numbers of site directories that have something on the server. */
  numbers(): Promise<number[]>
  /** Keeps whoever has the password out, until it is let in again; nothing is deleted. */
  quarantine(directory: Place): Promise<void>
  recover(directory: Place): Promise<void>
}
