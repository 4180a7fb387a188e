import Type from 'typebox'
import { nullable } from '../../platform/http/schemas.ts'
import { domainSharedWithSites } from '../access/reserved-names.ts'
import type { NameSettings } from '../access/service-names.ts'
import type { TakenName } from './taken-names.store.ts'

/* Problems with the names of the installation, described for its operator. */

export const InstallationNames = Type.Object(
  {
    shared_domain: nullable(
      Type.String({
        description: "Registrable domain that the panel shares with customers' sites. Null if none",
        examples: [null],
      }),
    ),
    taken: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['panel.example.com'] }),
          kind: Type.String({ description: '`site`, `domain` or `zone`', examples: ['domain'] }),
          site: nullable(Type.String({ description: 'Name of the site that uses it', examples: ['my-first-site'] })),
          account: Type.String({ examples: ['customer@example.com'] }),
        },
        { title: 'TakenName' },
      ),
      { description: 'Up to 100 names of the installation that accounts used before a setting reserved them' },
    ),
  },
  { title: 'InstallationNames' },
)

/** Returns the names of the installation as the API shows them. */
export const presentNames = (
  config: NameSettings,
  taken: readonly TakenName[],
): Type.Static<typeof InstallationNames> => ({
  shared_domain: domainSharedWithSites(config) ?? null,
  taken: taken.map(({ site = null, ...each }) => ({ ...each, site })),
})

/** Returns what a shared registrable domain means, and what to do about it. */
export const sharedDomainFinding = (domain: string): [text: string, remedy: string] => [
  `The panel and customers' sites share the registrable domain ${domain}, so pages of a site can set cookies for the panel.`,
  'Use a separate domain for the panel (STEAD_PANEL_URL, STEAD_API_NAME), or list the domain of sites (STEAD_STAGING_DOMAIN) at https://publicsuffix.org.',
]

/** Returns which account has a name of the installation, and what to do about it. */
export const takenNameFinding = ({ name, kind, site, account }: TakenName): [text: string, remedy: string] => {
  const holder =
    kind === 'zone'
      ? `a DNS zone of ${account}`
      : `a ${kind === 'site' ? 'first address' : 'domain'} of the site ${site} (${account})`
  return [
    `${name} belongs to this installation, but is ${holder}.`,
    'Remove it there, or change the setting that contains it.',
  ]
}
