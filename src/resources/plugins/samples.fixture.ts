import { type Examples, onSite, type Sample } from '../../../test/support/samples.ts'

const body = { plugins: [{ path: 'forms' }] }

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listPlugins', path: onSite('/plugins'), roles: [] },
  { endpoint: 'installPlugins', path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'updatePlugins', path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'deactivatePlugins', path: onSite('/plugins/deactivate'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'activatePlugins', path: onSite('/plugins/activate'), body: () => body, roles: ['plugin_management_access'] },
  { endpoint: 'deletePlugins', path: onSite('/plugins'), body: () => body, roles: ['plugin_management_access'] },
]

export const examples: Examples = {
  installPlugins: () => ({ body }),
  updatePlugins: () => ({ body }),
  deactivatePlugins: () => ({ body }),
  activatePlugins: () => ({ body }),
  deletePlugins: () => ({ body }),
}
