import type { Sealer } from '../platform/crypto/seal.ts'
import type { Database, Tx } from '../platform/db/database.ts'
import { type LocalAuthority, makeLocalAuthority } from './local-authority.ts'
import { LOCAL_CERTIFICATE_MS } from './local-domain.ts'
import type { LocalAuthorityRow } from './tables.ts'

/** The purpose under which keys of local authorities are sealed. */
const PURPOSE = 'local authority key'

/** The data of an authority that needs no key. */
export type KnownAuthority = Pick<LocalAuthorityRow, 'domain' | 'certificate'>

export interface LocalAuthorityOptions {
  readonly database: Database
  readonly sealer: Sealer
  readonly domain: string
  /** Milliseconds UTC. */
  readonly now: number
}

/**
 * Returns the installation's authority for a domain. The first caller creates it. A new one replaces it when it is
 * about to expire, or when its key was sealed under a master key that is lost.
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
      // The first new one stays: only the unusable one is replaced.
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

/** Returns every authority of the installation, even those of earlier domains. */
export const localAuthorities = (tx: Tx): Promise<KnownAuthority[]> =>
  tx.selectFrom('local_authorities').select(['domain', 'certificate']).orderBy('domain').execute()

const find = (tx: Tx, domain: string): Promise<LocalAuthorityRow | undefined> =>
  tx.selectFrom('local_authorities').selectAll().where('domain', '=', domain).executeTakeFirst()

function open(row: LocalAuthorityRow, sealer: Sealer, now: number): LocalAuthority | undefined {
  // Its certificates would outlive it.
  if (row.expires_at - now < LOCAL_CERTIFICATE_MS) return undefined
  try {
    const key = sealer.open(row.private_key, PURPOSE)
    return { domain: row.domain, certificate: row.certificate, key, expiresAt: row.expires_at }
  } catch {
    return undefined
  }
}
