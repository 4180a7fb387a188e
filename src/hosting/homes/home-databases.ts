import type { ConfigConstants } from '../site-files/wp-config-file.ts'
import type { Template } from './template.ts'

/** A statement with its values, in words that SQLite and MariaDB both understand. */
export type Edit = readonly [statement: string, ...values: string[]]

type Place = { readonly path: string }

/** Databases of homes that are on a server, and not in the home. */
export interface HomeDatabases {
  /** Makes the database and its account, with what the template has; from nothing, whatever was there. */
  make(home: Place, template: Template): Promise<void>
  /** Makes them with nothing inside, unless they are there. */
  ensure(home: Place): Promise<void>
  /** Makes them for a home that runs on something else until {@link HomeDatabases.turn}. */
  prepareNext(home: Place): Promise<void>
  /** The home's site runs on it from now on, or does not any more: what is on the server stays. */
  turn(home: Place, isOn: boolean): Promise<void>
  /** Puts back what the template has, and changes it, in one go. */
  fill(home: Place, templatePath: string, edits: readonly Edit[]): Promise<void>
  /** Takes all away that the home has on the server. May be called for one that has nothing. */
  drop(home: Place): Promise<void>
  /** What `wp-config.php` says of it. */
  constants(home: Place): Promise<ConfigConstants>
  /** Numbers of homes that have something on the server. */
  numbers(): Promise<number[]>
  /** Keeps whoever has the password out, until it is let in again; nothing is deleted. */
  setAside(home: Place): Promise<void>
  bringBack(home: Place): Promise<void>
}
