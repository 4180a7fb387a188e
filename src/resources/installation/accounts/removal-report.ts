import Type, { type TSchema } from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import { oneOf } from '../../../platform/http/schemas.ts'
import { RETENTION_DAYS } from '../../../platform/log-store/log-store.ts'
import type { AccountUsage } from '../accounts.store.ts'
import { problems } from '../problems.ts'
import { peopleOf } from './account-people.store.ts'
import { AccountOfInstallation, presentAccount } from './present-account.ts'
import {
  accessToOthers,
  leavingDomains,
  leavingSites,
  leavingZones,
  type RemovalCounts,
  removalCounts,
  zoneWithOthers,
} from './removal-counts.store.ts'

/** Entries of a list of the report. Totals count all. */
const MOST_LISTED = 100

const total = Type.Integer({ examples: [1] })
const bytes = Type.Integer({ examples: [83886080] })
const listOf = <Item extends TSchema>(title: string, item: Item) =>
  Type.Object({ total, list: Type.Array(item) }, { title })

const Site = Type.Object(
  {
    id: Type.Integer({ examples: [1] }),
    name: Type.String({ examples: ['shop'] }),
    bytes,
    staging: Type.Boolean(),
    in_trash: Type.Boolean(),
  },
  { title: 'SiteToRemove' },
)
const Person = Type.Object(
  {
    email: Type.String({ examples: ['colleague@example.com'] }),
    name: Type.String({ examples: ['A Colleague'] }),
    deleted: Type.Boolean({
      description: 'Whether their account is deleted too, because it was invited and has access to nothing else',
    }),
  },
  { title: 'PersonOfRemovedAccount' },
)
const Kept = Type.Object(
  {
    kind: oneOf(['activity', 'wordpress_users', 'logs', 'records_backups'], { examples: ['activity'] }),
    text: Type.String({ examples: ['12 activity entries move to the log of the operator.'] }),
  },
  { title: 'KeptOfRemovedAccount' },
)
const Blocker = Type.Object(
  {
    code: Type.String({ examples: ['account_zone_shared'] }),
    message: Type.String({ examples: ['Sites of other accounts use the domain example.com of the account.'] }),
  },
  { title: 'RemovalBlocker' },
)

export const RemovalReport = Type.Object(
  {
    account: AccountOfInstallation,
    sites: Type.Object({ total, bytes, list: Type.Array(Site) }, { title: 'SitesToRemove' }),
    backups: Type.Object({ total, bytes }, { title: 'BackupsToRemove' }),
    domains: listOf('DomainsToRemove', Type.String({ examples: ['www.example.com'] })),
    zones: listOf(
      'ZonesToRemove',
      Type.Object(
        {
          name: Type.String({ examples: ['example.com'] }),
          signed: Type.Boolean({ description: 'Remove its DS record at the registrar first' }),
        },
        { title: 'ZoneToRemove' },
      ),
    ),
    people: listOf('PeopleOfRemovedAccount', Person),
    shared_sites: listOf(
      'SharedSitesToLeave',
      Type.Object(
        {
          site: Type.String({ examples: ['other-shop'] }),
          owner: Type.String({ examples: ['owner@example.com'] }),
        },
        { title: 'SharedSite' },
      ),
    ),
    certificates: total,
    credentials: total,
    passkeys: total,
    sessions: total,
    webhooks: total,
    sftp_users: total,
    mu_plugins: total,
    operations: Type.Integer({ description: 'Unfinished operations, which are canceled', examples: [0] }),
    stays: Type.Array(Kept, { description: 'What is kept on purpose' }),
    blockers: Type.Array(Blocker, { description: 'What prevents the removal' }),
  },
  { title: 'AccountRemovalReport' },
)

/** Returns why an account cannot be removed. */
export async function blockersOf(tx: Tx, account: Pick<AccountUsage, 'id' | 'isFirst'>): Promise<Problem[]> {
  const found: Problem[] = []
  if (account.isFirst) found.push(new Problem(problems.operator_account, {}))
  const zone = await zoneWithOthers(tx, account.id)
  if (zone !== undefined) found.push(new Problem(problems.account_zone_shared, { zone }))
  return found
}

export async function removalReport(
  tx: Tx,
  account: AccountUsage,
  now: number,
): Promise<Type.Static<typeof RemovalReport>> {
  const { id } = account
  const counts = await removalCounts(tx, id, now)
  const sites = await leavingSites(tx, id)
  const people = await peopleOf(tx, id)
  const shared = await accessToOthers(tx, id)
  const sizes = sites.reduce((sum, site) => sum + site.bytes, 0)
  const { certificates, credentials, passkeys, sessions, webhooks, operations } = counts
  return {
    account: presentAccount(account),
    sites: { ...listed(sites), bytes: sizes },
    backups: { total: counts.backups, bytes: counts.backupBytes },
    domains: listed(await leavingDomains(tx, id)),
    zones: listed(await leavingZones(tx, id)),
    people: listed(people.map(({ email, name, isLeaving }) => ({ email, name, deleted: isLeaving }))),
    shared_sites: listed(shared),
    ...{ certificates, credentials, passkeys, sessions, webhooks, operations },
    sftp_users: counts.sftpUsers,
    mu_plugins: counts.muPlugins,
    stays: keptOf({ counts, sites: sites.length, shared: shared.length }),
    blockers: (await blockersOf(tx, account)).map(({ code, message }) => ({ code, message })),
  }
}

const listed = <Item>(all: readonly Item[]) => ({ total: all.length, list: all.slice(0, MOST_LISTED) })

function keptOf(found: {
  readonly counts: RemovalCounts
  readonly sites: number
  readonly shared: number
}): Type.Static<typeof Kept>[] {
  const activity = found.counts.activity
  const entries = activity === 1 ? 'The activity entry moves' : `${activity} activity entries move`
  return [
    { kind: 'activity', text: `${entries} to the log of the operator, with the address of the account.` },
    ...(found.shared > 0
      ? [
          {
            kind: 'wordpress_users' as const,
            text: 'WordPress users on sites of other accounts stay, with their posts.',
          },
        ]
      : []),
    ...(found.sites > 0
      ? [
          {
            kind: 'logs' as const,
            text: `Access and PHP logs of the sites are deleted after ${RETENTION_DAYS} days, as all logs.`,
          },
        ]
      : []),
    {
      kind: 'records_backups',
      text: "Backups of Stead's own records contain the account until they expire.",
    },
  ]
}
