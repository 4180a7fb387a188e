import type { Sealer } from '../platform/crypto/seal.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { type LocalAuthority, makeLocalAuthority } from './local-authority.ts'
import { LOCAL_CERTIFICATE_MS } from './local-domain.ts'
import type { LocalAuthorityRow } from './tables.ts'

/** What the keys of local authorities are sealed for. */
const PURPOSE = 'local authority key'

/** What can be known of an authority without its key. */
export type KnownAuthority = Pick<LocalAuthorityRow, 'domain' | 'certificate'>

export interface LocalAuthorityOptions {
  readonly database: Database
  readonly sealer: Sealer
  readonly domain: string
  /** Milliseconds UTC. */
  readonly now: number
}

/**
 * The installation's authority for a domain, which the first who asks makes. Another takes its place when it is about to end, and when its key
 * was sealed under a master key that is lost.
 */
export async function localAuthority({
  database,
  sealer,
  domain,
  now,
}: LocalAuthorityOptions): Promise<LocalAuthority> {
  const known = await find(database.read, domain)
  const opened = known && open(known, sealer, now)
  if (opened) return opened
  const made = await makeLocalAuthority(domain, now)
  const row = {
    certificate: made.certificate,
    private_key: sealer.seal(made.key, PURPOSE),
    expires_at: made.expiresAt,
    created_at: now,
  }
  const standing = await database.transaction(async (tx) => {
    await tx
      .insertInto('local_authorities')
      .values({ domain, ...row })
      // the first that is made stays: only the one that was found wanting is replaced
      .onConflict((conflict) =>
        conflict
          .column('domain')
          .doUpdateSet(row)
          .where('local_authorities.private_key', '=', known?.private_key ?? ''),
      )
      .execute()
    return (await find(tx, domain)) as LocalAuthorityRow
  })
  return {
    ...made,
    certificate: standing.certificate,
    key: sealer.open(standing.private_key, PURPOSE),
    expiresAt: standing.expires_at,
  }
}

/** Every authority of the installation: also those of domains that it had before. */
export const localAuthorities = (tx: Tx): Promise<KnownAuthority[]> =>
  tx.selectFrom('local_authorities').select(['domain', 'certificate']).orderBy('domain').execute()

const find = (tx: Tx, domain: string): Promise<LocalAuthorityRow | undefined> =>
  tx.selectFrom('local_authorities').selectAll().where('domain', '=', domain).executeTakeFirst()

function open(row: LocalAuthorityRow, sealer: Sealer, now: number): LocalAuthority | undefined {
  // what it signs would outlive it
  if (row.expires_at - now < LOCAL_CERTIFICATE_MS) return undefined
  try {
    const key = sealer.open(row.private_key, PURPOSE)
    return { domain: row.domain, certificate: row.certificate, key, expiresAt: row.expires_at }
  } catch {
    return undefined
  }
}
