import { randomBytes } from 'node:crypto'
import type { Sealer } from '../platform/crypto/seal.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { OperatorError } from '../platform/operator-error.ts'

/** Bound to the sealed key: see `Sealer`. */
const PURPOSE = 'key of backups'

export const sealBackupKey = (sealer: Sealer, key: Buffer): string => sealer.seal(key.toString('base64'), PURPOSE)

/**
 * Returns the key.
 * @throws when it was sealed under another master key
 */
export const unsealBackupKey = (sealer: Sealer, sealed: string): Buffer =>
  Buffer.from(sealer.open(sealed, PURPOSE), 'base64')

/**
 * Returns the key of this installation's backups. The first call creates it.
 * @throws OperatorError
 */
export async function backupKey(database: Database, sealer: Sealer, now: number): Promise<Buffer> {
  const sealed = await readKey(database.read)
  if (sealed !== undefined) return unsealed(sealer, sealed)
  const made = { id: 1, sealed: sealBackupKey(sealer, randomBytes(32)), created_at: now, holder: null }
  const standing = await database.transaction(async (tx) => {
    await tx
      .insertInto('backup_key')
      .values(made)
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    return readKey(tx)
  })
  return unsealed(sealer, standing as string)
}

/** Replaces the key, for operators who enter the key that they have printed. */
export async function replaceBackupKey(tx: Tx, sealer: Sealer, key: Buffer, now: number): Promise<void> {
  const sealed = sealBackupKey(sealer, key)
  await tx
    .insertInto('backup_key')
    .values({ id: 1, sealed, created_at: now, holder: null })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ sealed }))
    .execute()
}

async function readKey(tx: Tx): Promise<string | undefined> {
  const row = await tx.selectFrom('backup_key').select('sealed').where('id', '=', 1).executeTakeFirst()
  return row?.sealed
}

function unsealed(sealer: Sealer, sealed: string): Buffer {
  try {
    return unsealBackupKey(sealer, sealed)
  } catch (error) {
    throw new OperatorError(
      'The backup key is sealed with another master key than the current one. Enter the printed backup key with stead backup accept-key.',
      { cause: error },
    )
  }
}
