import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { WEEK_MS } from '../../platform/durations.ts'
import { type Site, stagingHostName } from '../sites/public.ts'
import { countFirstAddressesSince, deleteName, findName, firstAddresses } from './certificate.store.ts'
import { wantCertificate } from './certificate.ts'
import { wildcardName } from './own-names.ts'

/*
 * First addresses share a wildcard certificate, which needs a zone that Stead serves. Until there is one, each site gets
 * a certificate of its own, which the authority checks over HTTP.
 */

/** Let's Encrypt issues 50 new certificates a week for a domain and everything below it. Renewals do not count. */
export const MOST_A_WEEK = 40

type Needed = Pick<Config, 'edgeTlsListen' | 'stagingDomain' | 'acmeTermsAgreed'>

type Shared = { readonly kind: 'shared' | 'unknown' } | { readonly kind: 'missing'; readonly reason: string }

/** Returns whether there is a certificate for all first addresses, or why not. Unknown: not ordered (yet). */
export async function sharedCertificate(tx: Tx, config: Needed, now: number): Promise<Shared> {
  const wildcard = wildcardName(config)
  if (wildcard === undefined || !config.acmeTermsAgreed) return { kind: 'unknown' }
  const row = await findName(tx, wildcard)
  if (row?.chain != null && (row.expires_at ?? Number.POSITIVE_INFINITY) > now) return { kind: 'shared' }
  return row?.reason == null ? { kind: 'unknown' } : { kind: 'missing', reason: row.reason }
}

/** Orders the certificate of a new site's first address, if it needs its own. */
export async function wantFirstAddress(
  tx: Tx,
  { id: siteId, name }: Pick<Site, 'id' | 'name'>,
  config: Config,
  now: number,
): Promise<void> {
  if ((await sharedCertificate(tx, config, now)).kind !== 'missing') return
  // Two sites at once may both be the last: the limit is below the authority's.
  if ((await countFirstAddressesSince(tx, now - WEEK_MS)) >= MOST_A_WEEK) return
  await wantCertificate(tx, { hostName: stagingHostName(name, config), siteId, now })
}

/** Orders missing certificates of first addresses, or deletes those that the shared one has made superfluous. */
export async function planFirstAddresses(tx: Tx, config: Needed, now: number): Promise<void> {
  const { kind } = await sharedCertificate(tx, config, now)
  if (kind === 'unknown') return
  const { stagingDomain: domain } = config
  if (kind === 'shared') {
    const superfluous = await firstAddresses(tx, { domain, have: 'certificates', most: MOST_A_WEEK })
    for (const { hostName } of superfluous) await deleteName(tx, hostName)
    return
  }
  const left = MOST_A_WEEK - (await countFirstAddressesSince(tx, now - WEEK_MS))
  if (left <= 0) return
  const missing = await firstAddresses(tx, { domain, have: 'none', most: left })
  for (const each of missing) await wantCertificate(tx, { ...each, now })
}
