/*
 * Whether a data folder and a database belong together. The words:
 *
 * installation  a Stead: one database, and the data folders of its hosts. A random text in the database and in each folder.
 * host          who keeps sites in one data folder. A random text, in the folder and in the host's record.
 * epoch         a number that each start of the host raises, in the folder first and then in the record.
 */
import { HOST_SILENT_MS } from '../host-state.ts'

/** What a data folder says of itself. */
export interface FolderFacts {
  readonly identity: FolderIdentity | null
  /** `host-name`: how folders were known before there were identities, and what a host is called. */
  readonly hostName: string | null
  /** Folders of site directories in it. */
  readonly siteDirectories: number
  /** First of the user ids of its site directories, as its identity or their owners say; null where neither does. */
  readonly firstUser: number | null
}

/** What stands in a folder's `identity.json`. */
export interface FolderIdentity {
  readonly installation: string
  readonly host: string
  readonly epoch: number
  /** The highest number that a site directory in this folder has ever had. */
  readonly lastHome: number
  /** First of the user ids of its site directories, where Stead runs as root; null in one from before folders had users of their own. */
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

/** What a database says of itself. */
export interface DatabaseFacts {
  /** null: it has never been used since there are identities, or never at all. */
  readonly installation: string | null
  readonly hosts: readonly KnownHost[]
  /** It is a file in this very folder, and no other host can use it. */
  readonly isInFolder: boolean
}

export type Belonging =
  /** A new host of whatever installation the database is. */
  | { readonly kind: 'new' }
  /** They know each other. */
  | { readonly kind: 'known'; readonly host: KnownHost }
  /** They know each other by the host's name: from before there were identities, or the identity file was lost. */
  | { readonly kind: 'by name'; readonly host: KnownHost }
  /** The folder has been emptied, and the database in it knows one host: it is that host, without its files. */
  | { readonly kind: 'emptied'; readonly host: KnownHost }
  | { readonly kind: 'stranger'; readonly reason: StrangerReason }

export type StrangerReason = 'other installation' | 'host unknown' | 'homes of an unknown host'

/** Decides from facts alone; nothing of what it finds is changed before it has decided. */
export function belongingOf(folder: FolderFacts, database: DatabaseFacts): Belonging {
  const { identity, hostName } = folder
  const named = database.hosts.find(({ name }) => name === hostName)
  if (identity) {
    if (database.installation !== null && database.installation !== identity.installation)
      return { kind: 'stranger', reason: 'other installation' }
    const host = database.hosts.find((each) => each.identity === identity.host)
    if (host) return { kind: 'known', host }
    // a copy of the database from before there were identities
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
 * Whether another copy of the folder runs as this host right now: the record has an epoch that this folder has not seen, and its holder
 * was heard of just now. (The folder's own predecessor has written its epoch into the folder.)
 */
export function isCopyRunning(folder: FolderIdentity, host: KnownHost, nowMs: number): boolean {
  return host.epoch > folder.epoch && isHeardOf(host, nowMs)
}

/** Whether the host has said just now that it runs. */
export const isHeardOf = ({ seenAt }: KnownHost, nowMs: number): boolean => Math.abs(nowMs - seenAt) < HOST_SILENT_MS
