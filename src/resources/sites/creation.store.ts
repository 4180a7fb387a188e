import type { Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import type { Account } from '../account/account.ts'
import type { HostRoom } from './site.ts'

/** What a new site depends on besides what its orderer says. */
export interface CreationGround {
  readonly account: Pick<Account, 'id' | 'email' | 'plan' | 'defaultPhpVersion' | 'defaultDatacenter'>
  /** Others join every new site of the account. */
  readonly hasAccountLevelCollaborators: boolean
  /** In order of id, with the room that they have left. */
  readonly hosts: readonly HostRoom[]
}

/** One look for all of it: a look costs more than what it finds. @param accountId of the account that is to own the site */
export async function creationGround(tx: Tx, accountId: number): Promise<CreationGround> {
  const rows = await groundRows(tx, { accountId })
  const account = rows[0] as (typeof rows)[number]
  return {
    account: {
      id: accountId,
      email: account.email,
      plan: account.plan,
      defaultPhpVersion: account.default_php_version,
      defaultDatacenter: account.default_datacenter,
    },
    hasAccountLevelCollaborators: Number(account.joining) > 0,
    hosts: rows.flatMap((row) =>
      row.host_id === null
        ? []
        : {
            id: row.host_id,
            datacenters: (row.datacenters as string).split(',').filter(Boolean),
            freeSites: (row.max_sites as number) - (row.counted_sites as number) - Number(row.uncounted),
          },
    ),
  }
}

const groundRows = precompiled((tx, { accountId }: { accountId: number }) =>
  tx
    .selectFrom('accounts')
    .leftJoin('hosts', (join) => join.onTrue())
    .select(['email', 'plan', 'default_php_version', 'default_datacenter'])
    .select(['hosts.id as host_id', 'datacenters', 'max_sites', 'counted_sites'])
    .select((query) => [
      query
        .selectFrom('account_access')
        .where('owner_account_id', '=', accountId)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('joining'),
      // only those since the host's last report: see `reportHost`
      query
        .selectFrom('sites')
        .whereRef('sites.host_id', '=', 'hosts.id')
        .whereRef('sites.id', '>', 'hosts.counted_to')
        .where('sites.deleted_at', 'is', null)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('uncounted'),
    ])
    .where('accounts.id', '=', accountId)
    .orderBy('hosts.id'),
)
