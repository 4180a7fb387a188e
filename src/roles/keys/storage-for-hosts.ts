import { backupKey } from '../../backups/backup-key.store.ts'
import { repositoryKeys } from '../../backups/format/keys.ts'
import { placeOfObject, removableOf } from '../../backups/removable.ts'
import { requestSigner } from '../../backups/storage/sign-requests.ts'
import {
  MOST_REMOVED,
  MOST_SIGNED,
  type Signature,
  type SignatureRequest,
  type StoragePlace,
} from '../../backups/storage/signed-storage.ts'
import type { Storage } from '../../backups/storage/storage.ts'
import { usableHostNamed } from '../../hosting/host.store.ts'
import { openInputs } from '../../platform/operations/rights-of-host.ts'
import { siteOfOwner } from '../../resources/backups/backup.ts'
import { deleteBackupJob } from '../../resources/backups/take/delete-backup.job.ts'
import { backupStorage, bucketOf, placeOfBucket, type StorageSettings } from '../../resources/kit/open-backups.ts'
import { RequestLimit } from '../certificates/request-limit.ts'
import type { ProcessContext } from '../process-context.ts'
import { NotItsOwn } from './keys-for-hosts.ts'
import { maySend, type RightsOfHost, readRequest, rightsOfHost } from './storage-rules.ts'

type NeededContext = Pick<ProcessContext, 'database' | 'sealer' | 'log'> & { readonly config: StorageSettings }

/** Shorter than a host waits for an answer. It asks again. */
const PATIENCE = { attempts: 1, attemptMs: 8_000 }

/** Backups are in a folder, which needs no credentials. */
export class NoBucket extends Error {
  override readonly name = 'NoBucket'
}

/** The host gets no more signatures in this minute. */
export class AsksTooOften extends Error {
  override readonly name = 'AsksTooOften'
}

/** In one minute: packs of 100 GB. */
const MOST_SIGNATURES = 6_000

/** Signs requests to the storage for hosts without its credentials, and removes objects for them. */
export interface StorageForHosts {
  /** Where hosts find the storage. Undefined for a folder. */
  readonly place: StoragePlace | undefined
  /** @throws NoBucket, AsksTooOften */
  sign(host: string, requests: unknown): Promise<{ readonly place: StoragePlace; readonly signed: Signature[] }>
  /**
   * Removes those of the objects that may go.
   * @throws NoBucket, NotItsOwn
   */
  remove(host: string, names: unknown): Promise<{ readonly kept: number }>
}

/**
 * @param limit counts signatures
 * @param now milliseconds UTC
 */
export function storageForHosts(
  context: NeededContext,
  { limit = new RequestLimit(MOST_SIGNATURES), now = Date.now } = {},
): StorageForHosts {
  const { config, log } = context
  const bucket = bucketOf(config)
  const place = bucket && placeOfBucket(bucket)
  const signer = bucket && requestSigner(bucket)
  const storage = backupStorage(config, PATIENCE)
  /** A removal reads many headers of backups. */
  const removing = new Map<string, Promise<unknown>>()

  async function signOne(request: SignatureRequest | undefined, rights: RightsOfHost): Promise<Signature> {
    if (!signer) throw new NoBucket()
    if (!request || !(await maySend(request, rights))) return { refused: REFUSED }
    try {
      if (request.kind !== 'put') return await signer(request)
      // Some services ignore the condition that keeps existing objects.
      if (await exists(storage, request.name)) return { exists: true }
      const [signed, read] = await Promise.all([
        signer(request, { isOnce: request.isPlain !== true }),
        signer({ kind: 'get', name: request.name }),
      ])
      return { ...signed, read }
    } catch (error) {
      return { failed: (error as Error).message }
    }
  }
  return {
    place,
    async sign(host, given) {
      if (!place) throw new NoBucket()
      const requests = Array.isArray(given) ? given.slice(0, MOST_SIGNED).map(readRequest) : []
      if (!limit.take(host, requests.length)) throw new AsksTooOften()
      const rights = rightsOfHost(context, host)
      const signed = await Promise.all(requests.map((each) => signOne(each, rights)))
      const refused = signed.findIndex((each) => 'refused' in each)
      if (refused >= 0)
        log.warn({ machine: `host:${host}`, request: requests[refused] }, 'refused to sign a request to the storage')
      return { place, signed }
    },
    async remove(host, given) {
      if (!place) throw new NoBucket()
      const before = removing.get(host) ?? Promise.resolve()
      const mine = before.catch(() => {}).then(() => removeFor(context, storage, { host, given, now: now() }))
      removing.set(host, mine)
      try {
        return await mine
      } finally {
        if (removing.get(host) === mine) removing.delete(host)
      }
    },
  }
}

const REFUSED =
  'The control does not sign this request to the storage: it is not about the backups of sites of this host.'

const exists = async (storage: Storage, name: string): Promise<boolean> =>
  (await storage.get(name, { start: 0, length: 1 })) !== undefined

async function removeFor(
  context: NeededContext,
  storage: Storage,
  { host, given, now }: { readonly host: string; readonly given: unknown; readonly now: number },
) {
  const names = Array.isArray(given) ? given.slice(0, MOST_REMOVED).map(String) : []
  const rights = rightsOfHost(context, host)
  const ofOwners = Map.groupBy(names, (name) => placeOfObject(name)?.owner ?? '')
  for (const owner of ofOwners.keys()) if (!(await rights.mayWrite(owner))) throw new NotItsOwn(owner.slice(0, 100))
  let kept = 0
  for (const [owner, asked] of ofOwners) {
    const removable = await removableFor(context, storage, { host, owner, asked, now })
    await storage.remove(removable)
    kept += asked.length - removable.length
  }
  return { kept }
}

interface Asked {
  readonly host: string
  readonly owner: string
  readonly asked: readonly string[]
  readonly now: number
}

async function removableFor(
  { database, sealer, log }: NeededContext,
  storage: Storage,
  { host, owner, asked, now }: Asked,
) {
  const siteId = siteOfOwner(owner)
  const hostId = await usableHostNamed(database.read, host)
  if (typeof siteId !== 'number' || hostId === undefined) throw new NotItsOwn(owner)
  const key = await backupKey(database, sealer, now)
  const removable = await removableOf(asked, {
    ...{ storage, keys: repositoryKeys(key, owner), now },
    async isWanted(backupId) {
      const inputs = await openInputs(database.read, { siteId, hostId }, deleteBackupJob.name)
      return inputs.some((input) => (input as { backupId?: unknown }).backupId === backupId)
    },
  })
  const kept = asked.filter((name) => placeOfObject(name)?.part === 'backups' && !removable.includes(name))
  if (kept.length > 0) log.warn({ machine: `host:${host}`, kept }, 'kept backups that a host asked to remove')
  return removable
}
