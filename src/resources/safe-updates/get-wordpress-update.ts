import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { nullable } from '../../platform/http/schemas.ts'
import { knownReleases } from '../cms-version/public.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { findCore } from './find-core.ts'

export const getWordpressUpdate = endpoint({
  id: 'getWordpressUpdate',
  method: 'GET',
  path: '/v1/sites/{id}/wordpress-update',
  summary: 'Get the update of WordPress for a site',
  description:
    'An addition of Stead. Returns the newest stable release that Stead knows, if it is newer than that of the site. `core` of a safe update installs it.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Object(
    {
      installed: nullable(Type.String({ description: 'Release of the site. Null: unknown', examples: ['6.8.1'] })),
      version: nullable(Type.String({ description: 'Newer release. Null: none', examples: ['6.8.2'] })),
      obstacle: nullable(
        Type.String({
          description: 'Why the site cannot have the newest release',
          examples: ['WordPress 6.9 requires PHP 8.1, and the site has 7.4.'],
        }),
      ),
    },
    { title: 'WordpressUpdate' },
  ),
  etag: true,

  async handle({ tx, site }) {
    const known = { installed: site.coreVersion, version: null, obstacle: null }
    if (site.coreVersion === null) return known
    try {
      return { ...known, version: findCore(site, 'latest', await knownReleases(tx))?.version ?? null }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // Others say that the site has the newest release, or that none is known.
      return { ...known, obstacle: error.code === 'php_too_old' ? error.message : null }
    }
  },
})
