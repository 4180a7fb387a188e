import type { Sealer } from '../platform/crypto/seal.ts'
import { OperatorError } from '../platform/operator-error.ts'
import { sealBackupKey, unsealBackupKey } from './backup-key.store.ts'
import type { BackupStore } from './backup-store.ts'
import { type RepositoryKeys, repositoryKeys } from './format/keys.ts'
import { checkOwner, markName } from './format/object-names.ts'
import { markOfBackupKey } from './printed-key.ts'
import { ChunkOpener } from './reading/chunk-opener.ts'
import type { RepositoryParts } from './reading/manifests.ts'
import { type ChangeConditions, Repository } from './repository.ts'
import { requireLease, takeLeaseIfFree } from './repository-lease.ts'
import type { Storage } from './storage/storage.ts'

/** The object that identifies the installation of a storage. */
export const STORE_MARK = 'stead-backups.json'
const FORMAT = 1

interface Head {
  readonly format: number
  /** A mark of the key, by which an installation recognizes its own storage. */
  readonly mark: string
  /** The key, sealed under the master key. The master key and the storage are enough to read everything. */
  readonly key: string
}

/** The keys of backups: all of them, or those that a process may have. */
export interface StoreKeys {
  /** Returns the keys of one owner, and the mark of the key that they were derived from. */
  ofRepository(owner: string): Promise<{ readonly mark: string; readonly keys: RepositoryKeys }>
  /**
   * Records the installation in the storage, before the first backup in it.
   * @returns the mark of its key
   */
  claim(): Promise<string>
}

interface StoreParts {
  readonly storage: Storage
  /**
   * Returns the name of this copy of the installation in the storage: see `repository-lease.ts`. Without it, backups
   * are read-only.
   */
  readonly holder?: () => Promise<string>
  /** Milliseconds UTC. */
  readonly now?: () => number
}

export interface StoreOptions extends StoreParts {
  /** Returns the key of all backups. Called when it is needed. */
  readonly key: () => Promise<Buffer>
  /** Seals the key for the storage, so that the storage and the master key are enough. */
  readonly sealer: Sealer
}

/**
 * Opens all backups of an installation.
 * @throws OperatorError from every method when the storage is another installation's, LeasedByAnother from those that
 * change it
 */
export function openStore({ storage, key, sealer, holder = readOnly, now = Date.now }: StoreOptions): BackupStore {
  const own = kept(key)
  const keys: StoreKeys = {
    ofRepository: async (owner) => ({ mark: markOfBackupKey(await own()), keys: repositoryKeys(await own(), owner) }),
    claim: async () => claimStorage(storage, await own(), sealer),
  }
  return openStoreOf({ storage, keys, holder, now })
}

/** Opens the backups whose keys a process may have. Throws as {@link openStore}. */
export function openStoreOf({
  storage,
  keys: known,
  holder = readOnly,
  now = Date.now,
}: StoreParts & { readonly keys: StoreKeys }): BackupStore {
  const opener = new ChunkOpener()
  let usable: string | undefined
  const open = async (owner: string) => {
    const { mark, keys } = await known.ofRepository(owner)
    if (mark !== usable) await requireMark(storage, mark)
    usable = mark
    return keys
  }
  /** Another process may be faster. */
  const claim = kept(async () => {
    const head = await requireMark(storage, await known.claim())
    if (!head) throw claimedElsewhere(storage)
    await takeLeaseIfFree(storage, await holder(), now())
  })
  // The lease is checked each time, because the storage may be taken over at any time.
  const changesOf = (owner: string): ChangeConditions => ({
    async toWrite() {
      await claim()
      await requireLease(storage, await holder())
    },
    async toRemove() {
      await open(owner)
      await requireLease(storage, await holder())
    },
  })
  return {
    repository(owner) {
      checkOwner(owner)
      const change = changesOf(owner)
      const markDamaged = async (pack: string) => {
        try {
          await change.toRemove()
          const name = markName(owner, { pack, since: now(), reason: 'damaged' })
          await storage.put(name, Buffer.from('damaged\n'))
        } catch (error) {
          // The storage fails, or belongs to another installation. The caller did not ask for a mark, so this is not an
          // error.
          if (!(error instanceof OperatorError)) throw error
        }
      }
      const parts = kept(
        async (): Promise<RepositoryParts> => ({ storage, keys: await open(owner), opener, now, markDamaged }),
      )
      return new Repository(parts, change)
    },
    owners: async () => (await storage.folders()).sort(),
    async removeOwner(owner) {
      checkOwner(owner)
      await changesOf(owner).toRemove()
      // Backups go first, so that the rest of an interrupted removal is not a backup.
      for (const folder of ['backups', ''])
        await storage.remove((await storage.list(`${owner}/${folder && `${folder}/`}`)).map(({ name }) => name))
    },
  }
}

const readOnly = async (): Promise<string> => {
  throw new OperatorError('Backups that were opened only with their key are read-only.')
}

/** Does the work once, and again after a failure. */
function kept<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work()
    result.catch(() => {
      result = undefined
    })
    return result
  }
}

/** Opens all backups of a storage with only the printed key. */
export const openStoreWithKey = (storage: Storage, key: Buffer, sealer: Sealer): BackupStore =>
  openStore({ storage, key: async () => key, sealer })

/**
 * Returns the key of a storage, unsealed with its master key; `undefined` if the storage has no backups yet.
 * @throws OperatorError
 */
export async function keyOfStorage(storage: Storage, sealer: Sealer): Promise<Buffer | undefined> {
  const head = await readHead(storage)
  if (!head) return undefined
  try {
    return unsealBackupKey(sealer, head.key)
  } catch (error) {
    throw new OperatorError(
      `The backups in ${storage.where} belong to an installation with another master key. Use that key (STEAD_MASTER_KEY), or the printed backup key.`,
      { cause: error },
    )
  }
}

/**
 * Seals the key of a storage under another master key.
 * @throws OperatorError when it is not the storage's key
 */
export async function sealStorageAnew(storage: Storage, sealer: Sealer, key: Buffer): Promise<void> {
  const head = await readHead(storage)
  if (head && head.mark !== markOfBackupKey(key))
    throw new OperatorError(`This key does not open the backups in ${storage.where}. Nothing was changed.`)
  await storage.put(STORE_MARK, headOf(sealer, key))
}

/** Checks that the storage belongs to this installation, or is new. */
async function requireMark(storage: Storage, mark: string): Promise<Head | undefined> {
  const head = await readHead(storage)
  if (head && head.mark !== mark)
    throw new OperatorError(
      `The backups in ${storage.where} belong to another installation of Stead with another key. Nothing was changed. Choose another location (STEAD_BACKUP_DIR, STEAD_BACKUP_S3_PREFIX).`,
    )
  return head
}

/**
 * Records in a storage which installation it belongs to, unless it does already. It may belong to another one.
 * @returns the mark of the key
 */
export async function claimStorage(storage: Storage, key: Buffer, sealer: Sealer): Promise<string> {
  await storage.putOnce(STORE_MARK, headOf(sealer, key))
  return markOfBackupKey(key)
}

const claimedElsewhere = (storage: Storage) =>
  new OperatorError(
    `The control writes backups elsewhere than in ${storage.where}. Give all machines the same settings for backups (STEAD_BACKUP_DIR, STEAD_BACKUP_S3_BUCKET).`,
  )

const headOf = (sealer: Sealer, key: Buffer): Buffer => {
  const head: Head = { format: FORMAT, mark: markOfBackupKey(key), key: sealBackupKey(sealer, key) }
  return Buffer.from(`${JSON.stringify(head, null, 2)}\n`)
}

async function readHead(storage: Storage): Promise<Head | undefined> {
  const bytes = await storage.get(STORE_MARK)
  if (!bytes) return undefined
  let head: Partial<Head>
  try {
    head = JSON.parse(bytes.toString())
  } catch (error) {
    throw new OperatorError(`${STORE_MARK} in ${storage.where} is damaged. Remove it, and Stead creates it again.`, {
      cause: error,
    })
  }
  if (head.format !== FORMAT || typeof head.mark !== 'string' || typeof head.key !== 'string')
    throw new OperatorError(`The backups in ${storage.where} were made by another version of Stead. Update Stead.`)
  return head as Head
}
