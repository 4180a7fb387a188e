/**
 * The switches of a site, each in one place: its column, its state on a new site, and who reads it. Types, storage, and
 * what edges and hosts know of a site follow from this table.
 */
import type { Flag } from './platform/db/schema.ts'

interface SiteFlag {
  /** In the table `sites`. */
  readonly column: string
  /** The role that acts on it, in the `Route` of an edge or the `HostedSite` of a host. */
  readonly readBy: 'edge' | 'host'
  /** Its state on a new site. Default: off. */
  readonly isOnAtFirst?: (site: { readonly isStaging: boolean }) => boolean
  /** A clone has the state of its source. */
  readonly isCopied?: true
}

/** Users of a staging site want to see changes at once, including those made outside WordPress. */
const unlessStaging = ({ isStaging }: { readonly isStaging: boolean }) => !isStaging

export const siteFlags = {
  /** WordPress may run a network. */
  hasMultisite: { column: 'multisite', readBy: 'host', isCopied: true },
  /** Missing static files are answered without WordPress. */
  hasLight404: { column: 'light_404', readBy: 'host', isCopied: true },
  hasEdgeCache: { column: 'edge_cache', readBy: 'edge', isOnAtFirst: unlessStaging },
  hasCdn: { column: 'cdn', readBy: 'edge', isOnAtFirst: unlessStaging },
  isInMaintenance: { column: 'maintenance', readBy: 'edge' },
  /** WordPress starts without plugins and the site's theme. */
  isInSafeMode: { column: 'safe_mode', readBy: 'host' },
} as const satisfies Record<string, SiteFlag>

type Flags = typeof siteFlags
export type FlagName = keyof Flags
export type FlagColumn = Flags[FlagName]['column']
type Reader = SiteFlag['readBy']
type NameReadBy<By extends Reader> = {
  [Name in FlagName]: Flags[Name]['readBy'] extends By ? Name : never
}[FlagName]

export type SiteFlags = { readonly [Name in FlagName]: boolean }
/** The flags that a role knows of a site. A missing one is off. */
export type FlagsReadBy<By extends Reader> = Partial<Pick<SiteFlags, NameReadBy<By>>>
/** The columns of these flags. */
export type ColumnsReadBy<By extends Reader> = { readonly [Column in Flags[NameReadBy<By>]['column']]: Flag }

const all: readonly (readonly [name: string, flag: SiteFlag])[] = Object.entries(siteFlags)
export const flagColumns = all.map(([, { column }]) => column as FlagColumn)

/** Returns the columns that a role reads, for a query that joins `sites`. */
export function columnsReadBy<By extends Reader>(by: By): `sites.${keyof ColumnsReadBy<By>}`[] {
  const read = all.filter(([, { readBy }]) => readBy === by)
  return read.map(([, { column }]) => `sites.${column as keyof ColumnsReadBy<By>}` as const)
}

/** Returns the flags whose columns are in the row. */
export const flagsOfRow = <Row extends { readonly [Column in FlagColumn]?: Flag }>(row: Row) =>
  Object.fromEntries(
    all.filter(([, { column }]) => column in row).map(([name, { column }]) => [name, row[column as FlagColumn] === 1]),
  ) as { readonly [Name in FlagName as Flags[Name]['column'] extends keyof Row ? Name : never]: boolean }

/**
 * Returns the columns of a new site.
 * @param given the flags that are set explicitly
 */
export const columnsOfNewSite = (site: { readonly isStaging: boolean }, given: Partial<SiteFlags>) =>
  Object.fromEntries(
    all.map(([name, { column, isOnAtFirst }]) => [column, (given[name as FlagName] ?? isOnAtFirst?.(site)) ? 1 : 0]),
  ) as { readonly [Column in FlagColumn]: Flag }

/** Returns the flags that a clone takes over from its source. */
export const copiedFlags = (source: SiteFlags): Partial<SiteFlags> =>
  Object.fromEntries(all.filter(([, { isCopied }]) => isCopied).map(([name]) => [name, source[name as FlagName]]))
