import { STORE_MARK } from '../../backups/open-store.ts'
import { placeOfObject } from '../../backups/removable.ts'
import { LEASE_MARK } from '../../backups/repository-lease.ts'
import { mostBytesOf } from '../../backups/storage/s3-storage.ts'
import type { SignatureRequest } from '../../backups/storage/signed-storage.ts'
import { isSiteOn, usableHostNamed } from '../../hosting/host.store.ts'
import type { Database } from '../../platform/db/database.ts'
import { worksOn } from '../../platform/operations/rights-of-host.ts'
import { siteOfOwner } from '../../resources/backups/backup.ts'
import { mayReadBackups } from './keys-for-hosts.ts'

/* Which requests to the storage a control signs for a host. A host that was taken over asks for all of them. */

/** What all hosts read: which installation the storage belongs to, and which copy of it. */
const READ_BY_ALL = new Set([STORE_MARK, LEASE_MARK])
const MOST_NAME_LENGTH = 300
const MOST_LISTED = 1_000
/** A mark only says what its name says. */
const MOST_MARK_BYTES = 100

/** A host and its right to repositories, for one question. */
export interface RightsOfHost {
  mayRead(owner: string): Promise<boolean>
  mayWrite(owner: string): Promise<boolean>
}

/** Returns the rights of a host. It reads each from the database once. */
export function rightsOfHost(context: { readonly database: Database }, name: string): RightsOfHost {
  const once = (find: (owner: string) => Promise<boolean>) => {
    const found = new Map<string, Promise<boolean>>()
    return (owner: string) => {
      const known = found.get(owner) ?? find(owner)
      found.set(owner, known)
      return known
    }
  }
  return {
    mayRead: once((owner) => mayReadBackups(context, name, owner)),
    mayWrite: once((owner) => mayWriteBackups(context, name, owner)),
  }
}

/** Returns whether a host may write the backups of a site: it has the site, or an operation of the host works on it. */
async function mayWriteBackups({ database: { read } }: { readonly database: Database }, name: string, owner: string) {
  const siteId = siteOfOwner(owner)
  const hostId = await usableHostNamed(read, name)
  // Copies of WordPress are written by controls, because all hosts use them.
  if (hostId === undefined || typeof siteId !== 'number') return false
  return (await isSiteOn(read, { siteId, hostId })) || worksOn(read, { siteId, hostId })
}

/** @returns undefined for anything but a request that a host could send */
export function readRequest(given: unknown): SignatureRequest | undefined {
  const { kind, name, folder, after, most, bytes, sha256, isPlain } = Object(given) as Record<string, unknown>
  if ([name, folder, after].some((each) => each !== undefined && !isShortText(each))) return undefined
  if (kind === 'get' && isText(name)) return { kind, name }
  if (kind === 'list' && isText(folder) && isCount(most, MOST_LISTED))
    return { kind, folder, most, ...(isText(after) && { after }) }
  if (kind === 'put' && isText(name) && isCount(bytes, mostBytesOf(name)) && isDigest(sha256))
    return { kind, name, bytes, sha256, ...(isPlain === true && { isPlain }) }
  return undefined
}

const isText = (given: unknown): given is string => typeof given === 'string'
const isShortText = (given: unknown): boolean => isText(given) && given.length <= MOST_NAME_LENGTH
const isCount = (given: unknown, most: number): given is number =>
  Number.isSafeInteger(given) && (given as number) >= 0 && (given as number) <= most
const isDigest = (given: unknown): given is string => isText(given) && /^[0-9a-f]{64}$/.test(given)

/** Returns whether a host may send a request. */
export async function maySend(request: SignatureRequest, rights: RightsOfHost): Promise<boolean> {
  if (request.kind === 'list') {
    const [, owner = ''] = /^([^/]+)\/(?:(?:packs|indexes|backups|marks)\/)?$/.exec(request.folder) ?? []
    return rights.mayRead(owner)
  }
  if (request.kind === 'get' && READ_BY_ALL.has(request.name)) return true
  const place = placeOfObject(request.name)
  if (!place) return false
  if (request.kind === 'get') return rights.mayRead(place.owner)
  if (place.part === 'marks' && request.bytes > MOST_MARK_BYTES) return false
  return rights.mayWrite(place.owner)
}
