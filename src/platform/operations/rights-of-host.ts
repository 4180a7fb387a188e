import type { Sealer } from '../crypto/seal.ts'
import type { Database, Tx } from '../db/database.ts'
import type { Definitions } from './definition.ts'

/* The secrets and backups that a host may have because of its operations. One that was taken over asks for more. */

/**
 * Opens the secret of an operation that is bound to the host and has not ended.
 * @returns undefined for any other operation, and for one without a secret
 */
export async function openSecretOf(
  tx: Tx,
  { operationId, hostId }: { readonly operationId: number; readonly hostId: number },
  { definitions, sealer }: { readonly definitions: Definitions; readonly sealer: Sealer },
): Promise<string | undefined> {
  const found = await tx
    .selectFrom('operations')
    .select(['type', 'input'])
    .where('id', '=', operationId)
    .where('host_id', '=', hostId)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  const secret = found && (await definitions.get(found.type)?.secret?.(tx, JSON.parse(found.input) as never))
  return secret && sealer.open(secret.sealed, secret.purpose)
}

const openOn = (tx: Tx, hostId: number) =>
  tx.selectFrom('operations').where('host_id', '=', hostId).where('finished_at', 'is', null)

/** Returns whether an operation that is bound to the host, and has not ended, works on a site. */
export async function worksOn(
  tx: Tx,
  { siteId, hostId }: { readonly siteId: number; readonly hostId: number },
): Promise<boolean> {
  const own = openOn(tx, hostId).select('id').where('site_id', '=', siteId).limit(1)
  return (await own.executeTakeFirst()) !== undefined
}

/** Returns the inputs of operations of a type on a site that are bound to the host, and have not ended. */
export async function openInputs(
  tx: Tx,
  { siteId, hostId }: { readonly siteId: number; readonly hostId: number },
  type: string,
): Promise<unknown[]> {
  const rows = openOn(tx, hostId).select('input').where('site_id', '=', siteId).where('type', '=', type)
  return (await rows.execute()).map(({ input }) => JSON.parse(input))
}

/** Returns whether an operation that is bound to the host, and has not ended, works with the backups of a site. */
export async function worksWithBackupsOf(
  tx: Tx,
  { siteId, hostId }: { readonly siteId: number; readonly hostId: number },
  definitions: Definitions,
): Promise<boolean> {
  if (await worksOn(tx, { siteId, hostId })) return true
  const reading = [...definitions.values()].filter(({ readsBackupsOf }) => readsBackupsOf).map(({ name }) => name)
  if (reading.length === 0) return false
  const others = await openOn(tx, hostId).select(['type', 'input']).where('type', 'in', reading).execute()
  return others.some(({ type, input }) =>
    definitions
      .get(type)
      ?.readsBackupsOf?.(JSON.parse(input) as never)
      .includes(siteId),
  )
}

/** Returns the `openSecret` of a host that has the master key. */
export const secretOpener =
  ({
    database,
    hostId,
    ...keys
  }: {
    readonly database: Database
    readonly hostId: number
    readonly definitions: Definitions
    readonly sealer: Sealer
  }) =>
  async (operationId: number): Promise<string> => {
    const secret = await openSecretOf(database.read, { operationId, hostId }, keys)
    if (secret === undefined) throw new Error('this operation has no secret')
    return secret
  }
