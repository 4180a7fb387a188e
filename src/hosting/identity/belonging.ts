/*
 * Decides whether a data folder and a database belong together. The terms:
 *
 * installation  A Stead: one database, and the data folders of its hosts. A random text in the database and in each
 * folder.
 * host          A process that keeps sites in one data folder. A random text, in the folder and in the host's record.
 * epoch         A number that each start of the host increases, first in the folder and then in the record.
 */
import { HOST_SILENT_MS } from '../host-state.ts'

/** Facts from a data folder. */
export interface FolderFacts {
  readonly identity: FolderIdentity | null
  /** `host-name`: the name of a host, which identified folders before identities were introduced. */
  readonly hostName: string | null
  /** The number of site directories in it. */
  readonly siteDirectories: number
  /** The first of the user ids of its site directories, from its identity or their owners. Null if neither is known. */
  readonly firstUser: number | null
}

/** The content of a folder's `identity.json`. */
export interface FolderIdentity {
  readonly installation: string
  readonly host: string
  readonly epoch: number
  /** The highest number that a site directory in this folder has ever had. */
  readonly lastHome: number
  /**
   * The first of the user ids of its site directories, if Stead runs as root. Null in a folder from before each folder
   * had its own users.
   */
  readonly firstUser: number | null
}

/** A host as the database knows it. */
export interface KnownHost {
  readonly id: number
  readonly name: string
  readonly identity: string | null
  readonly epoch: number
  /** Milliseconds UTC. */
  readonly seenAt: number
}

/** Facts from a database. */
export interface DatabaseFacts {
  /** Null if it has not been used since identities were introduced. */
  readonly installation: string | null
  readonly hosts: readonly KnownHost[]
  /** Whether it is a file in this folder, so that no other host can use it. */
  readonly isInFolder: boolean
}

export type Belonging =
  /** A new host of the database's installation. */
  | { readonly kind: 'new' }
  /** They know each other. */
  | { readonly kind: 'known'; readonly host: KnownHost }
  /** They know each other by the host's name: from before identities were introduced, or the identity file was lost. */
  | { readonly kind: 'by name'; readonly host: KnownHost }
  /** The folder was emptied, and the database in it knows one host. It is that host, without its files. */
  | { readonly kind: 'emptied'; readonly host: KnownHost }
  | { readonly kind: 'stranger'; readonly reason: StrangerReason }

export type StrangerReason = 'other installation' | 'host unknown' | 'homes of an unknown host'

/** Decides from facts only, before anything is changed. */
export function belongingOf(folder: FolderFacts, database: DatabaseFacts): Belonging {
  const { identity, hostName } = folder
  const named = database.hosts.find(({ name }) => name === hostName)
  if (identity) {
    if (database.installation !== null && database.installation !== identity.installation)
      return { kind: 'stranger', reason: 'other installation' }
    const host = database.hosts.find((each) => each.identity === identity.host)
    if (host) return { kind: 'known', host }
    // A copy of the database from before identities were introduced.
    if (named && named.identity === null) return { kind: 'known', host: named }
    if (database.installation === null || folder.siteDirectories > 0)
      return { kind: 'stranger', reason: 'host unknown' }
    return { kind: 'new' }
  }
  if (named) return { kind: 'by name', host: named }
  if (folder.siteDirectories > 0) return { kind: 'stranger', reason: 'homes of an unknown host' }
  const [only, ...others] = database.hosts
  if (database.isInFolder && only && others.length === 0) return { kind: 'emptied', host: only }
  return { kind: 'new' }
}

/**
 * Returns whether another copy of the folder runs as this host right now. Then the record has an epoch that this folder
 * has not seen, and its host reported very recently. (The folder's own predecessor has written its epoch to the folder.)
 */
export function isCopyRunning(folder: FolderIdentity, host: KnownHost, nowMs: number): boolean {
  return host.epoch > folder.epoch && isHeardOf(host, nowMs)
}

/** Returns whether the host reported recently that it runs. */
export const isHeardOf = ({ seenAt }: KnownHost, nowMs: number): boolean => Math.abs(nowMs - seenAt) < HOST_SILENT_MS
