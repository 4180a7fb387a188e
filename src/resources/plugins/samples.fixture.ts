import type { TestApi } from '../../../test/support/api.ts'
import { type Examples, onSite, type Sample, type Scene } from '../../../test/support/samples.ts'
import { storePlugins } from './plugin.store.ts'

const body = { plugins: [{ path: 'forms' }] }

/** Adds plugins to the stored list of a site. */
export const withPlugins = (api: TestApi, siteId: number, ...names: string[]) =>
  api.database.transaction((tx) =>
    storePlugins(
      tx,
      siteId,
      names.map((name) => ({
        ...{ name, file: `${name}/${name}.php`, title: name, description: '', status: 'active', version: '1.0' },
        ...{ update: 'none', updateVersion: null },
      })),
    ),
  )
const installed: Sample['prepare'] = ({ site }, api) => withPlugins(api, site, 'forms')

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listPlugins', path: onSite('/plugins'), roles: [] },
  { endpoint: 'installPlugins', path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'updatePlugins', prepare: installed, path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'deactivatePlugins', prepare: installed, path: onSite('/plugins/deactivate'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'activatePlugins', prepare: installed, path: onSite('/plugins/activate'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'listSiteAdvice', path: onSite('/advice'), roles: [] },
  { endpoint: 'deletePlugins', prepare: installed, path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
]

export const examples: Examples = {
  installPlugins: () => ({ body }),
  updatePlugins: withForms,
  deactivatePlugins: withForms,
  activatePlugins: withForms,
  deletePlugins: withForms,
}

async function withForms({ api, siteId }: Scene) {
  // The second one is from the API documentation.
  await withPlugins(api, siteId, 'forms', 'akismet')
  return { body }
}
