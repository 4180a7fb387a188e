import { backupKey } from '../../backups/backup-key.store.ts'
import { type PortableKeys, portableKeys } from '../../backups/format/keys.ts'
import { claimStorage } from '../../backups/open-store.ts'
import { markOfBackupKey } from '../../backups/printed-key.ts'
import { leaseHolder, takeLeaseIfFree } from '../../backups/repository-lease.ts'
import { usableHostNamed } from '../../hosting/host.store.ts'
import { isDirectoryOn } from '../../hosting/site-directories/directory.store.ts'
import { jobs } from '../../jobs.ts'
import { openSecretOf, worksWithBackupsOf } from '../../platform/operations/rights-of-host.ts'
import { siteOfOwner } from '../../resources/backups/backup.ts'
import { backupStorage, type StorageSettings } from '../../resources/kit/open-backups.ts'
import type { ProcessContext } from '../process-context.ts'

/* A control opens this for hosts that have no master key: for their own sites and operations, and no others. */

type NeededContext = Pick<ProcessContext, 'database' | 'sealer'> & { readonly config: StorageSettings }

/** The host may not have what it asks for. The reasons are not told apart, so that it learns nothing about others. */
export class NotItsOwn extends Error {
  override readonly name = 'NotItsOwn'
}

/**
 * Returns the keys of one repository: of a site whose directory is on the host, or whose backups an operation of the
 * host works with. Copies of WordPress belong to all hosts.
 * @param name the name of the host, as its certificate says
 * @throws NotItsOwn
 */
export async function repositoryKeysFor(
  context: NeededContext,
  name: string,
  owner: string,
): Promise<{ readonly mark: string; readonly keys: PortableKeys }> {
  if (!(await mayReadBackups(context, name, owner))) throw new NotItsOwn(owner)
  const key = await backupKey(context.database, context.sealer, Date.now())
  return { mark: markOfBackupKey(key), keys: portableKeys(key, owner) }
}

/** Returns whether a host may read the repository of an owner. */
export async function mayReadBackups(
  { database: { read } }: Pick<NeededContext, 'database'>,
  name: string,
  owner: string,
): Promise<boolean> {
  const hostId = await usableHostNamed(read, name)
  if (hostId === undefined) return false
  const of = siteOfOwner(owner)
  if (of === 'all sites') return true
  if (of === undefined) return false
  const asked = { siteId: of, hostId }
  return (await isDirectoryOn(read, asked)) || worksWithBackupsOf(read, asked, jobs)
}

/**
 * Records the installation in the storage for backups, which contains the sealed key of all of them. Also records that
 * this copy of the installation may change it, unless another copy does.
 * @returns the mark of the key
 */
export async function claimStorageFor({ config, database, sealer }: NeededContext): Promise<string> {
  const storage = backupStorage(config)
  const now = Date.now()
  const mark = await claimStorage(storage, await backupKey(database, sealer, now), sealer)
  await takeLeaseIfFree(storage, await leaseHolder(database), now)
  return mark
}

/**
 * Opens the secret of an operation of the host.
 * @throws NotItsOwn
 */
export async function secretFor(context: NeededContext, name: string, operationId: number): Promise<string> {
  const { read } = context.database
  const hostId = await usableHostNamed(read, name)
  const keys = { definitions: jobs, sealer: context.sealer }
  const secret = hostId === undefined ? undefined : await openSecretOf(read, { operationId, hostId }, keys)
  if (secret === undefined) throw new NotItsOwn(`operation ${operationId}`)
  return secret
}
