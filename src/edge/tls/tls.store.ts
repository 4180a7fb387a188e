import type { Database, Tx } from '../../platform/db/database.ts'
import type { Route } from '../routing/route.ts'
import { recordNames } from '../routing/route-changes.store.ts'

/** A certificate as stored. */
export interface KeptCertificate {
  readonly chain: string
  /** Sealed for {@link CERTIFICATE_KEY_PURPOSE}. */
  readonly privateKey: string
  /** The same key, sealed for edges without the master key ({@link edgeKeyPurpose}). It may be of another certificate. */
  readonly edgeKey: string | null
  readonly issuedAt: number
  /** Null: not known. */
  readonly expiresAt: number | null
  /** The edge has created it itself. */
  readonly isLocal: boolean
}

/** The purpose for which private keys of certificates are sealed. */
export const CERTIFICATE_KEY_PURPOSE = 'certificate key'
/**
 * Returns the purpose for which the private key of one certificate is sealed for edges. It names the certificate,
 * because earlier versions replace certificates without this key.
 */
export const edgeKeyPurpose = (hostName: string, issuedAt: number): string =>
  `key of the certificate of ${hostName}, issued at ${issuedAt}`
/** The purpose for which the keys of session tickets are sealed. */
export const TICKET_PURPOSE = 'session ticket key'

/** The renewal job never picks up certificates that the edge created itself. */
const NEVER = Number.MAX_SAFE_INTEGER

export async function loadCertificate(tx: Tx, hostName: string): Promise<KeptCertificate | undefined> {
  const row = await tx
    .selectFrom('certificates')
    .select(['chain', 'private_key', 'edge_key', 'issued_at', 'expires_at', 'due_at'])
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  if (!row?.chain || !row.private_key || row.issued_at === null) return undefined
  const { chain, private_key: privateKey, edge_key: edgeKey, issued_at: issuedAt, expires_at: expiresAt } = row
  return { chain, privateKey, edgeKey, issuedAt, expiresAt, isLocal: row.due_at === NEVER }
}

/** Stores the key of a certificate for edges, unless another certificate has replaced it. */
export async function keepEdgeKey(
  tx: Tx,
  { hostName, issuedAt, edgeKey }: { readonly hostName: string; readonly issuedAt: number; readonly edgeKey: string },
): Promise<void> {
  await tx
    .updateTable('certificates')
    .set({ edge_key: edgeKey })
    .where('host_name', '=', hostName)
    .where('issued_at', '=', issuedAt)
    .execute()
}

/** Returns the pending challenge of a name, or null. */
export async function loadChallenge(tx: Tx, hostName: string): Promise<Route['challenge']> {
  const row = await tx
    .selectFrom('certificates')
    .select(['challenge_token as token', 'challenge_answer as answer'])
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  return row?.token && row.answer ? { token: row.token, answer: row.answer } : null
}

/** A certificate that the edge has created itself. */
export interface MadeCertificate {
  readonly hostName: string
  readonly chain: string
  /** Sealed for {@link CERTIFICATE_KEY_PURPOSE}. */
  readonly privateKey: string
  /** Sealed for {@link edgeKeyPurpose}. */
  readonly edgeKey: string
  readonly issuedAt: number
  readonly expiresAt: number
  /** `issuedAt` of the one to replace, or undefined. */
  readonly replaces: number | undefined
}

/** Stores a certificate. Of several creators, the first wins. @returns undefined when no site has the name any longer */
export async function keepCertificate(database: Database, made: MadeCertificate): Promise<KeptCertificate | undefined> {
  const { hostName, issuedAt } = made
  return database.transaction(async (tx) => {
    const route = await tx
      .selectFrom('routes')
      .innerJoin('sites', 'sites.id', 'routes.site_id')
      .select('routes.site_id')
      .where('routes.host_name', '=', hostName)
      .where('sites.deleted_at', 'is', null)
      .executeTakeFirst()
    if (!route) return undefined
    const values = {
      ...{ site_id: route.site_id, chain: made.chain, private_key: made.privateKey, edge_key: made.edgeKey },
      ...{ issued_at: issuedAt, expires_at: made.expiresAt, due_at: NEVER },
    }
    await tx
      .insertInto('certificates')
      .values({ ...values, host_name: hostName, wanted_at: issuedAt, force_tls: 0, failures: 0 })
      .onConflict((conflict) =>
        conflict
          .column('host_name')
          .doUpdateSet(values)
          .where('certificates.issued_at', made.replaces === undefined ? 'is' : '=', made.replaces ?? null),
      )
      .execute()
    await recordNames(tx, [hostName])
    return loadCertificate(tx, hostName)
  })
}

/** Deletes the certificates of removed names. */
export async function forgetCertificates(tx: Tx, hostNames: readonly string[]): Promise<void> {
  if (hostNames.length > 0) await tx.deleteFrom('certificates').where('host_name', 'in', hostNames).execute()
}

/**
 * Returns the key of a slot. The first process that asks for it creates it. Deletes those of past slots. @param made
 * sealed
 */
export async function ticketKeyOf(database: Database, slot: number, made: () => string): Promise<string> {
  const known = await findTicketKey(database.read, slot)
  if (known !== undefined) return known
  return database.transaction(async (tx) => {
    await tx
      .insertInto('edge_ticket_keys')
      .values({ slot, ticket_key: made() })
      .onConflict((conflict) => conflict.column('slot').doNothing())
      .execute()
    await tx.deleteFrom('edge_ticket_keys').where('slot', '<', slot).execute()
    return (await findTicketKey(tx, slot)) as string
  })
}

async function findTicketKey(tx: Tx, slot: number): Promise<string | undefined> {
  const row = await tx.selectFrom('edge_ticket_keys').select('ticket_key').where('slot', '=', slot).executeTakeFirst()
  return row?.ticket_key
}
