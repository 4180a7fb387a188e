import type { Database, Tx } from '../../platform/db/database.ts'

/** A certificate as it is kept. */
export interface KeptCertificate {
  readonly chain: string
  /** Sealed for {@link KEY_PURPOSE}. */
  readonly privateKey: string
  readonly issuedAt: number
}

/** What private keys of certificates are sealed for. */
export const KEY_PURPOSE = 'certificate key'
/** What the keys of session tickets are sealed for. */
export const TICKET_PURPOSE = 'session ticket key'

export async function loadCertificate(tx: Tx, hostName: string): Promise<KeptCertificate | undefined> {
  const row = await tx
    .selectFrom('certificates')
    .select(['chain', 'private_key', 'issued_at'])
    .where('host_name', '=', hostName)
    .executeTakeFirst()
  if (!row?.chain || !row.private_key || row.issued_at === null) return undefined
  return { chain: row.chain, privateKey: row.private_key, issuedAt: row.issued_at }
}

/** The key of a slot; the first process that asks for it makes it. Those of slots that are over go. @param made sealed */
export async function ticketKeyOf(database: Database, slot: number, made: () => string): Promise<string> {
  const known = await findTicketKey(database.read, slot)
  if (known !== undefined) return known
  return database.transaction(async (tx) => {
    await tx
      .insertInto('tls_ticket_keys')
      .values({ slot, ticket_key: made() })
      .onConflict((conflict) => conflict.column('slot').doNothing())
      .execute()
    await tx.deleteFrom('tls_ticket_keys').where('slot', '<', slot).execute()
    return (await findTicketKey(tx, slot)) as string
  })
}

async function findTicketKey(tx: Tx, slot: number): Promise<string | undefined> {
  const row = await tx.selectFrom('tls_ticket_keys').select('ticket_key').where('slot', '=', slot).executeTakeFirst()
  return row?.ticket_key
}
