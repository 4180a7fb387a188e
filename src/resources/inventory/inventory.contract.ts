import type { TestApi } from '../../../test/support/api.ts'
import type { Contract } from '../../../test/support/contract.ts'
import { at, type Examples, type Sample, type Scene, type World } from '../../../test/support/samples.ts'
import { withExtensions } from './inventory.fixture.ts'

const installed = (api: TestApi, siteId: number) =>
  withExtensions(api, siteId, [
    { kind: 'plugin', slug: 'akismet' },
    { kind: 'theme', slug: 'twentytwenty' },
  ])

const prepare = ({ site }: World, api: TestApi) => installed(api, site)

const samples: readonly Sample[] = [
  { endpoint: 'listInstalledPlugins', path: at('/v1/plugins') },
  { endpoint: 'listInstalledThemes', path: at('/v1/themes') },
  { endpoint: 'listSitesWithPlugin', prepare, path: at('/v1/plugins/akismet/sites'), roles: [] },
  { endpoint: 'listSitesWithTheme', prepare, path: at('/v1/themes/twentytwenty/sites'), roles: [] },
]

const having =
  (slug: string) =>
  async ({ api, siteId }: Scene) => {
    await installed(api, siteId)
    return { params: { slug } }
  }

const examples: Examples = {
  listSitesWithPlugin: having('akismet'),
  listSitesWithTheme: having('twentytwenty'),
}

export const contract: Contract = { samples, examples }
