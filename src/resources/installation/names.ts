import Type from 'typebox'
import type { Tx } from '../../platform/db/database.ts'
import { nullable } from '../../platform/http/schemas.ts'
import type { Log } from '../../platform/log/log.ts'
import { domainSharedWithSites } from '../reserved-names.ts'
import type { NameSettings } from '../service-names.ts'
import { type TakenName, takenReservedNames } from './taken-names.store.ts'

export type { TakenName } from './taken-names.store.ts'
export { takenReservedNames } from './taken-names.store.ts'

/* What is wrong with the names of the installation, for people who operate it. */

export const InstallationNames = Type.Object(
  {
    shared_domain: nullable(
      Type.String({
        description: 'Registrable domain that the panel has in common with sites of customers; null: none',
        examples: [null],
      }),
    ),
    taken: Type.Array(
      Type.Object(
        {
          name: Type.String({ examples: ['panel.example.com'] }),
          kind: Type.String({ description: '`site`, `domain` or `zone`', examples: ['domain'] }),
          site: nullable(Type.String({ description: 'Name of the site that has it', examples: ['my-first-site'] })),
          account: Type.String({ examples: ['customer@example.com'] }),
        },
        { title: 'TakenName' },
      ),
      { description: 'Names of the installation that an account got before a setting reserved them; 100 at most' },
    ),
  },
  { title: 'InstallationNames' },
)

/** The names of the installation as the API shows them. */
export const presentNames = (
  config: NameSettings,
  taken: readonly TakenName[],
): Type.Static<typeof InstallationNames> => ({
  shared_domain: domainSharedWithSites(config) ?? null,
  taken: taken.map(({ site = null, ...each }) => ({ ...each, site })),
})

/** Returns what a shared registrable domain means, and what to do about it. */
export const sharedDomainWarning = (domain: string): string =>
  `The panel and the sites of customers share the registrable domain ${domain}, so that pages of a site can set cookies for the panel. ` +
  'Give the panel a domain of its own (STEAD_PANEL_URL, STEAD_API_NAME), or have the domain of sites (STEAD_STAGING_DOMAIN) listed at https://publicsuffix.org.'

/** Returns what to do about a name that somebody else has. */
export const takenNameWarning = ({ name, kind, site, account }: TakenName): string => {
  const holder =
    kind === 'zone'
      ? `a DNS zone of ${account}`
      : `a ${kind === 'site' ? 'first address' : 'domain'} of the site ${site} (${account})`
  return `${name} belongs to this installation, and is ${holder}. Remove it there, or change the setting that names it.`
}

/** Logs what is wrong with the names of the installation, at its start. */
export async function warnOfNames(tx: Tx, config: NameSettings & { readonly panel: string }, log: Log): Promise<void> {
  const shared = config.panel === 'on' ? domainSharedWithSites(config) : undefined
  if (shared !== undefined) log.warn({ domain: shared }, sharedDomainWarning(shared))
  for (const taken of await takenReservedNames(tx, config)) log.warn(taken, takenNameWarning(taken))
}
