/*
 * An installation that was restored from its backups has the key and the database of the lost one. If the lost one
 * starts again, both would write, thin out and sweep the same storage, each by its own database. So an object of the
 * storage names the copy that may change it: the holder. Every copy with the key may read.
 */
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Database, Tx } from '../platform/db/database.ts'
import { timestamp } from '../platform/http/schemas.ts'
import { OperatorError } from '../platform/operator-error.ts'
import type { Storage } from './storage/storage.ts'

/** The object that names the copy which may change the storage. */
export const LEASE_MARK = 'stead-holder.json'

interface RepositoryLease {
  readonly holder: string
  /** Milliseconds UTC. */
  readonly since: number
  /** The machine that wrote it, for operators. */
  readonly machine: string
}

/** Another copy of this installation controls the storage. */
export class LeasedByAnother extends OperatorError {
  override readonly name = 'LeasedByAnother'
}

/**
 * Returns the name of this copy in the storage. The first call creates it.
 * @param database has a backup key
 */
export async function leaseHolder(database: Database): Promise<string> {
  const standing = await readHolder(database.read)
  if (standing !== null) return standing
  return database.transaction(async (tx) => {
    await tx.updateTable('backup_key').set({ holder: newHolder() }).where('holder', 'is', null).execute()
    return (await readHolder(tx)) as string
  })
}

/** Gives a copied database a new name, so that it counts as another copy from now on. */
export async function becomeAnotherLeaseHolder(tx: Tx): Promise<void> {
  await tx.updateTable('backup_key').set({ holder: newHolder() }).execute()
}

const newHolder = (): string => randomBytes(16).toString('base64url')

async function readHolder(tx: Tx): Promise<string | null> {
  const row = await tx.selectFrom('backup_key').select('holder').where('id', '=', 1).executeTakeFirst()
  return row?.holder ?? null
}

/** @throws LeasedByAnother when another copy controls the storage */
export async function requireLease(storage: Storage, own: string): Promise<void> {
  const standing = await readObject(storage)
  if (standing === undefined || standing.holder === own) return
  throw new LeasedByAnother(
    `Another copy of this installation, restored from these backups, changes the backups in ${storage.where}. It runs on ${standing.machine} since ${timestamp(standing.since)}. This copy only reads them. To let this copy change them instead, run stead backup take-over.`,
  )
}

/** Takes the storage for this copy, if no copy controls it. */
export async function takeLeaseIfFree(storage: Storage, own: string, now: number): Promise<void> {
  if (!(await readObject(storage))) await storage.putOnce(LEASE_MARK, objectOf(own, now))
}

/**
 * Gives this copy control of the storage, whichever copy had it before.
 * @throws StorageFailure
 */
export const takeLeaseOver = (storage: Storage, own: string, now: number): Promise<void> =>
  storage.put(LEASE_MARK, objectOf(own, now))

const objectOf = (holder: string, since: number): Buffer => {
  const object: RepositoryLease = { holder, since, machine: hostname() }
  return Buffer.from(`${JSON.stringify(object, null, 2)}\n`)
}

async function readObject(storage: Storage): Promise<RepositoryLease | undefined> {
  const bytes = await storage.get(LEASE_MARK)
  if (!bytes) return undefined
  try {
    const { holder, since, machine } = JSON.parse(bytes.toString())
    if (typeof holder === 'string' && typeof since === 'number' && typeof machine === 'string')
      return { holder, since, machine }
  } catch {
    // The error below reports it.
  }
  throw new OperatorError(
    `${LEASE_MARK} in ${storage.where} is damaged. To let this copy change the backups, run stead backup take-over.`,
  )
}
