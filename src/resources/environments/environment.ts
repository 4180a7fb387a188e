import Type from 'typebox'
import type { Config } from '../../config.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { SiteId } from '../kit/site-id.ts'
import { environmentTypes, type Site, siteAddress } from '../sites/public.ts'

/** How many environments a live site can have. */
export const MOST_ENVIRONMENTS = 5

const siteFields = {
  id: Type.Integer(),
  name: Type.String({ examples: ['my-first-site'] }),
  displayName: Type.String({ examples: ['My first site'] }),
  state: oneOf(['deploying', 'cloning', 'live', 'disabled'], { examples: ['live'] }),
  url: Type.String({ description: 'Host name without the scheme', examples: ['my-first-site.example.com'] }),
  staging: Type.Boolean(),
  wpEnvironmentType: oneOf(environmentTypes, { examples: ['production'] }),
}

export const EnvironmentSchema = Type.Object(
  {
    ...siteFields,
    linkedAt: Timestamp,
    syncedAt: nullable({
      ...Timestamp,
      description: 'When it last had the same database as the live site. Null if Stead does not know',
    }),
  },
  { title: 'Environment' },
)

export const EnvironmentsSchema = Type.Object(
  {
    live: nullable(
      Type.Object(siteFields, {
        title: 'LiveSite',
        description: 'The live site. Null if you cannot see it',
      }),
    ),
    environments: Type.Array(EnvironmentSchema, { description: 'Those that you can see, in order of their links' }),
  },
  { title: 'Environments' },
)

/** Path of one environment. */
export const EnvironmentPath = Type.Object({ site_id: SiteId, environment_id: SiteId })

/** The link of an environment. Times in milliseconds UTC. */
export interface EnvironmentLink {
  readonly siteId: number
  readonly liveSiteId: number
  readonly linkedAt: number
  readonly levelAt: number | null
}

export const presentEnvironmentSite = (site: Site, config: Config) => ({
  id: site.id,
  name: site.name,
  displayName: site.displayName,
  state: site.state,
  url: siteAddress(site, config),
  staging: site.isStaging,
  wpEnvironmentType: site.environmentType,
})

export const presentEnvironment = (site: Site, { linkedAt, levelAt }: EnvironmentLink, config: Config) => ({
  ...presentEnvironmentSite(site, config),
  linkedAt: timestamp(linkedAt),
  syncedAt: levelAt === null ? null : timestamp(levelAt),
})
