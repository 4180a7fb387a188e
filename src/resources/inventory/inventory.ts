import Type from 'typebox'
import { reply } from '../../platform/http/endpoint.ts'
import { notFound } from '../../platform/http/problem.ts'
import { besidesOf, nullable, pageInfo, pageOf, pageQuery } from '../../platform/http/schemas.ts'
import type { Context } from '../kit/context.ts'
import {
  extensionsCount,
  extensionsPage,
  type InventoryFilter,
  isSeenWith,
  type SitesFilter,
  sitesCount,
  sitesPage,
  versionsOf,
} from './inventory.store.ts'

/** A plugin or theme with the numbers of sites that have it. */
export const InstalledExtension = Type.Object(
  {
    slug: Type.String({ examples: ['akismet'] }),
    name: Type.String({ examples: ['Akismet Anti-spam'] }),
    sites: Type.Integer({ description: 'Number of sites that have it', examples: [12] }),
    active: Type.Integer({ description: 'Number of sites where it is active', examples: [11] }),
    update_due: Type.Integer({ description: 'Number of sites where WordPress knows of an update', examples: [3] }),
    automatic_updates: Type.Integer({
      description: 'Number of sites where WordPress updates it automatically',
      examples: [5],
    }),
    versions: Type.Array(
      Type.Object(
        { version: Type.String({ examples: ['5.3'] }), sites: Type.Integer({ examples: [9] }) },
        { title: 'InstalledVersion' },
      ),
      { description: 'Installed versions, those of the most sites first' },
    ),
  },
  { title: 'InstalledExtension' },
)

/** A site that has a plugin or theme. */
export const SiteWithExtension = Type.Object(
  {
    id: Type.Integer({ examples: [12] }),
    name: Type.String({ examples: ['shop-one'] }),
    display_name: Type.String({ examples: ['Shop One'] }),
    primary_domain: nullable(Type.String({ examples: ['shop.example.com'] })),
    staging: Type.Boolean(),
    version: Type.String({ examples: ['5.3'] }),
    active: Type.Boolean(),
    update_version: nullable(Type.String({ description: 'Available version, or null', examples: ['5.4'] })),
    automatic_updates: Type.Boolean(),
  },
  { title: 'SiteWithExtension' },
)

const { page, per_page } = pageQuery

/** Query of lists of plugins or themes. */
export const inventoryQuery = Type.Object({
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Part of the name or the slug', examples: ['forms'] }),
  ),
  update_due: Type.Optional(
    Type.Boolean({ description: '`true`: at least one site has an update for it. `false`: none has' }),
  ),
  active: Type.Optional(Type.Boolean({ description: '`true`: it is active on at least one site. `false`: on none' })),
  site_id: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Only what this site has' }),
  ),
  page,
  per_page,
})

/** Query of lists of sites that have a plugin or theme. */
export const sitesQuery = Type.Object({
  version: Type.Optional(Type.String({ maxLength: 100, description: 'Only sites with this version' })),
  update_due: Type.Optional(Type.Boolean({ description: 'Whether WordPress knows of an update' })),
  active: Type.Optional(Type.Boolean({ description: 'Whether it is active' })),
  ...pageQuery,
})

/** Path of one plugin or theme. */
export const SlugParam = Type.Object({ slug: Type.String({ minLength: 1, maxLength: 200, examples: ['akismet'] }) })

type Kind = InventoryFilter['kind']

/** Answers a list of plugins or themes. */
export async function replyInventory(
  { tx, caller }: Pick<Context, 'tx' | 'caller'>,
  kind: Kind,
  query: Type.Static<typeof inventoryQuery>,
) {
  const asked = pageOf(query)
  const filter: InventoryFilter = {
    accountId: caller.accountId,
    kind,
    part: query.q,
    isDue: query.update_due,
    isActive: query.active,
    siteId: query.site_id,
  }
  const found = await extensionsPage(tx, filter, asked)
  const slugs = found.map(({ slug }) => slug)
  const versions = Map.groupBy(await versionsOf(tx, filter, slugs), ({ slug }) => slug)
  const data = found.map(({ slug, sites, active, update_due, automatic }) => {
    const each = versions.get(slug) ?? []
    return {
      ...{ slug, name: each[0]?.title || slug, sites, active, update_due, automatic_updates: automatic },
      versions: each.map((known) => ({ version: known.version, sites: known.sites })),
    }
  })
  return reply(data, { page: pageInfo(asked, await extensionsCount(tx, filter)) })
}

/**
 * Answers a list of the sites that have a plugin or theme.
 * @throws Problem `not_found` if the caller sees no site that has it
 */
export async function replySitesWith(
  { tx, caller }: Pick<Context, 'tx' | 'caller'>,
  { kind, slug }: { readonly kind: Kind; readonly slug: string },
  query: Type.Static<typeof sitesQuery>,
) {
  const asked = pageOf(query)
  const { version, update_due: isDue, active: isActive } = query
  const filter: SitesFilter = { accountId: caller.accountId, kind, slug, version, isDue, isActive }
  if (!(await isSeenWith(tx, filter))) throw notFound()
  const sites = await sitesPage(tx, filter, asked)
  const data = sites.map(({ staging, is_active, is_automatic, ...site }) => ({
    ...site,
    ...{ staging: staging === 1, active: is_active === 1, automatic_updates: is_automatic === 1 },
  }))
  return reply(data, await besidesOf(asked, sites, () => sitesCount(tx, filter)))
}
