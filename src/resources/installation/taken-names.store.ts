import type { Tx } from '../../platform/db/database.ts'
import { reservationOf, reservedDomains, reservedHosts } from '../access/reserved-names.ts'
import type { NameSettings } from '../access/service-names.ts'
import { firstAccount } from '../account/public.ts'

/** Name of the installation that an account got before a setting reserved it. */
export interface TakenName {
  readonly name: string
  /** `site`: the first address of a site. `domain`: a domain of a site. `zone`: a DNS zone. */
  readonly kind: 'site' | 'domain' | 'zone'
  /** The site that has it. */
  readonly site?: string
  /** E-mail address of the account. */
  readonly account: string
}

/** A longer list would not help. */
export const MOST_TAKEN = 100

/** Returns the names of the installation that other accounts have, by name, at most {@link MOST_TAKEN}. */
export async function takenReservedNames(tx: Tx, config: NameSettings): Promise<TakenName[]> {
  const operator = (await firstAccount(tx))?.id ?? 0
  const zones = await zonesIn(tx, config)
  const taken = zones
    .filter(({ accountId }) => accountId !== operator)
    .map(({ name, account }): TakenName => ({ name, kind: 'zone', account }))
  const found = [...(await routesAt(tx, config)), ...(await domainsIn(tx, config))]
  for (const { accountId, ...each } of new Map(found.map((one) => [one.name, one])).values())
    if (each.kind === 'site' || accountId !== operator || reservationOf(each.name, config) === 'service')
      taken.push(each)
  return taken.sort((one, other) => one.name.localeCompare(other.name)).slice(0, MOST_TAKEN)
}

type Found = TakenName & { readonly accountId: number }

function zonesIn(tx: Tx, config: NameSettings) {
  return tx
    .selectFrom('zones')
    .innerJoin('accounts', 'accounts.id', 'zones.account_id')
    .select(['zones.name', 'zones.account_id as accountId', 'accounts.email as account'])
    .where('zones.name', 'in', reservedDomains(config))
    .where('zones.deleted_at', 'is', null)
    .execute()
}

/** Returns first addresses and domains of sites that equal the name of a service, or are above one. */
async function routesAt(tx: Tx, config: NameSettings): Promise<Found[]> {
  const rows = await tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .select(['routes.host_name as name', 'is_domain', 'sites.name as site'])
    .select(['sites.account_id as accountId', 'accounts.email as account'])
    .where('routes.host_name', 'in', reservedHosts(config))
    .where('sites.deleted_at', 'is', null)
    .execute()
  return rows.map(({ is_domain: isDomain, ...row }) => ({ ...row, kind: isDomain === 1 ? 'domain' : 'site' }))
}

/** Returns all domains of sites in zones of the installation. */
async function domainsIn(tx: Tx, config: NameSettings): Promise<Found[]> {
  const rows = await tx
    .selectFrom('zones')
    .innerJoin('dns_records', 'dns_records.zone_id', 'zones.id')
    .innerJoin('sites', 'sites.id', 'dns_records.site_id')
    .innerJoin('accounts', 'accounts.id', 'sites.account_id')
    .select(['zones.name as zone', 'dns_records.name as label', 'sites.name as site'])
    .select(['sites.account_id as accountId', 'accounts.email as account'])
    .where('zones.name', 'in', reservedDomains(config))
    .where('zones.deleted_at', 'is', null)
    .where('sites.deleted_at', 'is', null)
    .execute()
  return rows.map(({ zone, label, ...row }) => ({
    ...row,
    kind: 'domain',
    name: label === '' ? zone : `${label}.${zone}`,
  }))
}
